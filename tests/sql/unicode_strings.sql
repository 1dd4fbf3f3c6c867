-- U& strings and names, with the character that UESCAPE gives.
SELECT U&'d\0061t\+000061', U&'d!0061t!+000061' UESCAPE '!', U&'!!\' UESCAPE '!';
SELECT U&'\D83D\DE00', U&'#D83D#DE00' UESCAPE '#', U&'it''s' UESCAPE '!';
SELECT U&'d!0061'
  't!0061' UESCAPE '!' AS joined;
SELECT U&"d\0061ta" FROM (SELECT 1 AS data) AS x;
SELECT U&"d!0061ta" UESCAPE '!', U&"x".* FROM (SELECT 1 AS data) AS U&"x" UESCAPE '!';
SELECT U&"!006Cower" UESCAPE '!' ('ABC');
SELECT text U&'!0041' UESCAPE '!', U&'!0041' UESCAPE '!' || 'b';
SELECT U&'!0041' UESCAPE E'!', U&'!0041' UESCAPE $$!$$;
SELECT U&'a' UESCAPE '+';
SELECT U&'a' UESCAPE 'a';
SELECT U&'a' UESCAPE '!!';
SELECT U&'a' UESCAPE '';
SELECT U&'a' UESCAPE ' ';
SELECT U&'a' UESCAPE 1;
SELECT U&'a' UESCAPE;
SELECT 'a' UESCAPE '!';
SELECT U&'wrong: !061' UESCAPE '!';
SELECT U&'wrong: !+0061' UESCAPE '!';
SELECT U&'wrong: !db99' UESCAPE '!';
SELECT U&'wrong: !db99x' UESCAPE '!';
SELECT U&'wrong: !0000' UESCAPE '!';
SELECT U&"wrong: !061" UESCAPE '!';
-- Half a pair is told of where the other half should have been.
SELECT E'a\udb99';
SELECT E'a\udb99b';
SELECT E'a\udb99\\';
SELECT E'a\udb99\u0061';
SELECT E'a\udb99\U00000061';
SELECT E'a\udc00';
SELECT E'a\U002FFFFF';
-- A number that ends in the middle of its exponent.
SELECT 0.0e+a;
SELECT 0.0e;

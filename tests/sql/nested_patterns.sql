-- Patterns whose groups nest deep, and such as nest too deep.
SELECT 'x' ~ (repeat('(', 300) || 'x' || repeat(')', 300));
SELECT 'x' ~ (repeat('(', 5000) || 'x' || repeat(')', 5000));
SELECT regexp_replace('axb', repeat('(', 3000) || 'x' || repeat(')', 3000), '\1\1');
SELECT regexp_match('abc', repeat('(?:', 3000) || '(b)' || repeat(')', 3000));
SELECT 'x' ~ (repeat('(', 20000) || 'x' || repeat(')', 20000));
SELECT 'x' ~ repeat('(', 300);
SELECT 'xyz' ~ ('^' || repeat('(?=', 100) || 'x' || repeat(')', 100));
SELECT substring('foo bar' FROM repeat('(', 1000) || 'o b' || repeat(')', 1000));
SELECT regexp_match('aaabbb', '((a{1,2}){1,2})(b{2,3}?)');

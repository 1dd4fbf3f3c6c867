//! The OIDs of the types that code names. All others are looked up in [`crate::builtin`].

macro_rules! oids {
    ($($name:ident $oid:literal $comment:literal),* $(,)?) => {
        $(#[doc = $comment] pub const $name: u32 = $oid;)*
    };
}

oids! {
    BOOL 16 "bool", BYTEA 17 "bytea", CHAR 18 "\"char\"", NAME 19 "name", INT8 20 "int8", INT2 21 "int2",
    INT2VECTOR 22 "int2vector", INT4 23 "int4", REGPROC 24 "regproc", TEXT 25 "text", OID 26 "oid", TID 27 "tid",
    XID 28 "xid", CID 29 "cid", OIDVECTOR 30 "oidvector", JSON 114 "json", XML 142 "xml", CIDR 650 "cidr",
    PG_NODE_TREE 194 "pg_node_tree", FLOAT4 700 "float4", FLOAT8 701 "float8", INET 869 "inet", UNKNOWN 705 "unknown",
    BOOL_ARRAY 1000 "bool[]", INT2_ARRAY 1005 "int2[]", INT4_ARRAY 1007 "int4[]", TEXT_ARRAY 1009 "text[]",
    INT8_ARRAY 1016 "int8[]", FLOAT8_ARRAY 1022 "float8[]", OID_ARRAY 1028 "oid[]", ACLITEM 1033 "aclitem",
    BPCHAR 1042 "bpchar", VARCHAR 1043 "varchar", DATE 1082 "date", TIME 1083 "time", TIMESTAMP 1114 "timestamp",
    TIMESTAMPTZ 1184 "timestamptz", INTERVAL 1186 "interval", NUMERIC_ARRAY 1231 "numeric[]",
    TIMETZ 1266 "timetz", BIT 1560 "bit", VARBIT 1562 "varbit", NUMERIC 1700 "numeric", REFCURSOR 1790 "refcursor", REGPROCEDURE 2202 "regprocedure",
    REGOPER 2203 "regoper", REGOPERATOR 2204 "regoperator", REGCLASS 2205 "regclass", REGTYPE 2206 "regtype",
    RECORD 2249 "record", CSTRING 2275 "cstring", ANY 2276 "\"any\"", ANYARRAY 2277 "anyarray", VOID 2278 "void",
    RECORD_ARRAY 2287 "record[]",
    TXID_SNAPSHOT 2970 "txid_snapshot", PG_SNAPSHOT 5038 "pg_snapshot",
    UUID 2950 "uuid", PG_LSN 3220 "pg_lsn", REGCONFIG 3734 "regconfig", REGDICTIONARY 3769 "regdictionary",
    JSONB 3802 "jsonb", JSONPATH 4072 "jsonpath", REGNAMESPACE 4089 "regnamespace", REGROLE 4096 "regrole", REGCOLLATION 4191 "regcollation",
    XID8 5069 "xid8", CITEXT 14147 "citext, of the extension", HSTORE 14410 "hstore, of the extension",
    GHSTORE 14412 "what indexes by GiST over hstore keep", GTRGM 14511 "those over trigrams",
    QUERY_INT 14694 "query_int, of intarray", INTBIG_GKEY 14696 "what indexes by GiST over arrays keep", LTREE 14838 "ltree, of the extension",
    LQUERY 14840 "lquery", LTXTQUERY 14842 "ltxtquery", LTREE_GIST 14844 "what indexes by GiST over ltree keep",
    CUBE 15000 "cube, of the extension", EARTH 15060 "earth, of earthdistance",
}

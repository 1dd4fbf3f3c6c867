#!/usr/bin/env python3
"""Writes data/*.tsv from a running PostgreSQL 15 that was initialised with --locale=C.UTF-8 -E UTF8.

    psql environment variables (PGHOST, PGPORT, PGUSER) say where it is:  PGPORT=5433 ./generate.py

Each file is one system table as COPY TO STDOUT writes it (tabs, \\N, backslash escapes) with a header line of column
names, in `attnum` order. Object references (regproc, regtype and so on) are written as OIDs. Node trees are written as
the SQL that PostgreSQL deparses them to. Only what every new database has is kept (OIDs below 16384).
"""
import pathlib
import subprocess

OUT = pathlib.Path(__file__).resolve().parent / "data"

# Table: the rows to keep, their order.
TABLES = {
    "pg_type": ("oid < 16384", "oid"),
    "pg_proc": ("oid < 16384", "oid"),
    "pg_operator": ("true", "oid"),
    "pg_cast": ("oid < 16384", "oid"),
    "pg_aggregate": ("true", "aggfnoid::oid"),
    "pg_opclass": ("true", "oid"),
    "pg_opfamily": ("true", "oid"),
    "pg_amop": ("true", "oid"),
    "pg_amproc": ("true", "oid"),
    "pg_am": ("true", "oid"),
    # Others depend on the operating system and ICU, which Atoll does not ask.
    "pg_collation": ("collname in ('default', 'C', 'POSIX', 'ucs_basic')", "oid"),
    "pg_language": ("oid < 16384", "oid"),
    "pg_conversion": ("true", "oid"),
    "pg_range": ("true", "rngtypid"),
    "pg_namespace": ("oid < 16384 and nspname !~ '^pg_(toast_)?temp'", "oid"),
    "pg_class": ("oid < 16384", "oid"),
    "pg_attribute": ("attrelid < 16384", "attrelid, attnum"),
    "pg_index": ("indexrelid < 16384", "indexrelid"),
    "pg_constraint": ("oid < 16384", "oid"),
    # What is said of extensions is each database's own.
    "pg_description": ("objoid < 16384 and classoid <> 'pg_extension'::regclass", "classoid, objoid, objsubid"),
    # Those of what CREATE EXTENSION makes come behind.
    "pg_init_privs": ("objoid < 13500", "objoid, classoid, objsubid"),
    "pg_authid": ("oid < 16384", "oid"),
    "pg_auth_members": ("roleid < 16384", "roleid, member"),
    "pg_tablespace": ("true", "oid"),
    "pg_ts_config": ("true", "oid"),
    "pg_ts_dict": ("true", "oid"),
    "pg_ts_parser": ("true", "oid"),
    "pg_ts_template": ("true", "oid"),
}

# Columns that the server would print as node trees, or that say something about one machine only.
SPECIAL = {
    ("pg_proc", "proargdefaults"): "pg_get_expr(proargdefaults, 0)",
    ("pg_proc", "prosqlbody"): "pg_get_function_sqlbody(oid)",
    ("pg_type", "typdefaultbin"): "null",
    ("pg_index", "indexprs"): "null",
    ("pg_index", "indpred"): "null",
    ("pg_constraint", "conbin"): "pg_get_constraintdef(oid)",
    ("pg_class", "relpartbound"): "null",
    ("pg_authid", "rolpassword"): "null",
    ("pg_attribute", "attmissingval"): "null",
    ("pg_class", "relpages"): "0",
    ("pg_class", "reltuples"): "-1",
    ("pg_class", "relallvisible"): "0",
    ("pg_class", "relfrozenxid"): "3",
    ("pg_class", "relminmxid"): "1",
}

REG = {"regproc", "regtype", "regprocedure", "regoper", "regoperator", "regclass", "regnamespace", "regrole",
       "regconfig", "regdictionary", "regcollation"}


def ask(sql):
    """The answer of one statement, as it comes."""
    return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql], check=True,
                          capture_output=True, text=True).stdout


def copy(name, query, columns):
    """Writes one file."""
    body = ask(f"copy ({query}) to stdout")
    (OUT / f"{name}.tsv").write_text("\t".join(columns) + "\n" + body)


# Extensions whose functions the server has built in: the OID of the first of them. Below 16384 nothing else has these.
EXTENSIONS = {"pg_stat_statements": 14000}


def pg_proc_columns(namespace, oid, owner):
    """The columns of pg_proc, and what they are filled with."""
    listing = ask("select attname, format_type(atttypid, null) from pg_attribute "
                  "where attrelid = 'pg_proc'::regclass and attnum > 0 order by attnum")
    columns, expressions = [], []
    for line in listing.splitlines():
        column, kind = line.split("|")
        special = SPECIAL.get(("pg_proc", column)) or {"oid": oid, "pronamespace": namespace, "proowner": owner}.get(column)
        columns.append(column)
        expressions.append(special or (f"{column}::oid" if kind in REG else column))
    # Each default alone, as the binder needs it where a call leaves arguments out.
    columns.append("defaults")
    expressions.append(
        "(select array_agg(pg_get_function_arg_default(p.oid, n) order by n) from generate_series(1, "
        "coalesce(array_length(p.proallargtypes, 1), p.pronargs)) n "
        "where pg_get_function_arg_default(p.oid, n) is not null)")
    return columns, expressions


def extensions():
    """Writes extension_proc.tsv: in no schema before CREATE EXTENSION, whose order numbers them."""
    body = ""
    for name, first in EXTENSIONS.items():
        ask(f"create extension {name}")
        members = (f"select objid from pg_depend where deptype = 'e' and classid = 'pg_proc'::regclass "
                   f"and refobjid = (select oid from pg_extension where extname = '{name}')")
        oid = f"{first} - 1 + row_number() over (order by p.oid)"
        columns, expressions = pg_proc_columns("0", oid, "0")
        body += ask(f"copy (select {', '.join(expressions)} from pg_proc p where oid in ({members}) "
                    f"order by p.oid) to stdout")
        ask(f"drop extension {name}")
    (OUT / "extension_proc.tsv").write_text("\t".join(columns) + "\n" + body)


def main():
    OUT.mkdir(exist_ok=True)
    extensions()
    for table, (rows, order) in TABLES.items():
        listing = ask(f"select attname, format_type(atttypid, null) from pg_attribute "
                      f"where attrelid = '{table}'::regclass and attnum > 0 order by attnum")
        columns, expressions = [], []
        for line in listing.splitlines():
            column, kind = line.split("|")
            columns.append(column)
            special = SPECIAL.get((table, column))
            expressions.append(special or (f"{column}::oid" if kind in REG else column))
        if table == "pg_proc":
            columns, expressions = pg_proc_columns("pronamespace", "oid", "proowner")
        copy(table, f"select {', '.join(expressions)} from {table} p where {rows} order by {order}", columns)
    copy("views", "select c.oid, pg_get_viewdef(c.oid) from pg_class c where relkind = 'v' and oid < 16384 order by 1",
         ["oid", "definition"])
    copy("keywords", "select word, catcode, barelabel from pg_get_keywords() order by word collate \"C\"",
         ["word", "catcode", "barelabel"])


if __name__ == "__main__":
    main()

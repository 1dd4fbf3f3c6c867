#!/usr/bin/env python3
"""Writes data/*.tsv from a running PostgreSQL 15 that was initialised with --locale=C.UTF-8 -E UTF8.

    psql environment variables (PGHOST, PGPORT, PGUSER) say where it is:  PGPORT=5433 ./generate.py

Each file is one system table as COPY TO STDOUT writes it (tabs, \\N, backslash escapes) with a header line of column
names, in `attnum` order. Object references (regproc, regtype and so on) are written as OIDs. Node trees are written as
the SQL that PostgreSQL deparses them to. Only what every new database has is kept (OIDs below 16384), and in files of
their own what extensions bring:  ./generate.py extensions  writes these alone.
"""
import pathlib
import re
import subprocess
import sys

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


# Objects of the server's own, which PostgreSQL does not have: their rows were written by hand, and stay.
OWN = range(13600, 13700)


def own_rows(path):
    """The rows of such objects in a file, which come last."""
    lines = path.read_text().splitlines(keepends=True)[1:] if path.exists() else []
    return "".join(line for line in lines if line.split("\t")[0].isdigit() and int(line.split("\t")[0]) in OWN)


def copy(name, query, columns):
    """Writes one file."""
    path = OUT / f"{name}.tsv"
    path.write_text("\t".join(columns) + "\n" + ask(f"copy ({query}) to stdout") + own_rows(path))


# Extensions that the server has built in: the OID of the first of their members. Below 16384 nothing else has these.
EXTENSIONS = {
    "pg_stat_statements": 14000,
    "citext": 14100,
    "uuid-ossp": 14250,
    "pgcrypto": 14300,
    "hstore": 14350,
    "pg_trgm": 14480,
    "fuzzystrmatch": 14570,
    "unaccent": 14590,
    "tablefunc": 14600,
    "intarray": 14640,
    "ltree": 14760,
    "cube": 14960,
    "earthdistance": 15050,
    "moddatetime": 15070,
    "insert_username": 15072,
    "autoinc": 15074,
    "tcn": 15076,
    "refint": 15078,
}

# The tables that have rows of extensions, in the order in which these are numbered; the file, what is the key, and which
# rows of a table that has no members itself go with those of another one.
MEMBERS = {
    "pg_proc": "extension_proc",
    "pg_type": "extension_type",
    "pg_operator": "extension_operator",
    "pg_cast": "extension_cast",
    "pg_opfamily": "extension_opfamily",
    "pg_opclass": "extension_opclass",
    "pg_amop": "extension_amop",
    "pg_amproc": "extension_amproc",
    "pg_aggregate": "extension_aggregate",
    "pg_ts_template": "extension_ts_template",
    "pg_ts_dict": "extension_ts_dict",
}
OWNERS = {"proowner", "typowner", "oprowner", "opfowner", "opcowner", "dictowner"}
SCHEMAS = {"pronamespace", "typnamespace", "oprnamespace", "opfnamespace", "opcnamespace", "dictnamespace", "tmplnamespace"}


def columns_of(table):
    """The columns of a table with their types, and what they are filled with."""
    listing = ask(f"select attname, format_type(atttypid, null) from pg_attribute "
                  f"where attrelid = '{table}'::regclass and attnum > 0 order by attnum")
    columns = []
    for line in listing.splitlines():
        column, kind = line.split("|")
        special = SPECIAL.get((table, column))
        columns.append((column, kind, special or (f"{column}::oid" if kind in REG else column)))
    if table == "pg_proc":
        # Each default alone, as the binder needs it where a call leaves arguments out.
        columns.append(("defaults", "text[]",
            "(select array_agg(pg_get_function_arg_default(p.oid, n) order by n) from generate_series(1, "
            "coalesce(array_length(p.proallargtypes, 1), p.pronargs)) n "
            "where pg_get_function_arg_default(p.oid, n) is not null)"))
    return columns


def members_of(name, table):
    """The OIDs of the rows of a table that come with an extension."""
    extension = f"(select oid from pg_extension where extname = '{name}')"
    of = (f"select objid from pg_depend where deptype = 'e' and refclassid = 'pg_extension'::regclass "
          f"and refobjid = {extension} and classid = ")
    where = {
        "pg_type": f"oid in ({of} 'pg_type'::regclass) or typelem in ({of} 'pg_type'::regclass) and typlen = -1",
        "pg_amop": f"amopfamily in ({of} 'pg_opfamily'::regclass)",
        "pg_amproc": f"amprocfamily in ({of} 'pg_opfamily'::regclass)",
        "pg_aggregate": f"aggfnoid::oid in ({of} 'pg_proc'::regclass)",
    }.get(table, f"oid in ({of} '{table}'::regclass)")
    key = "aggfnoid::oid" if table == "pg_aggregate" else "oid"
    return key, where, ask(f"select {key} from {table} where {where} order by {key}").split()


def extensions():
    """Writes extension_*.tsv: in no schema and nobody's before CREATE EXTENSION, whose order numbers them."""
    bodies = {table: "" for table in MEMBERS}
    # Of all: members of one may be of types of another.
    numbers = {}
    for name, first in EXTENSIONS.items():
        ask(f'create extension "{name}"')
        count = 0
        for table in MEMBERS:
            for oid in members_of(name, table)[2]:
                if oid not in numbers:
                    numbers[oid] = str(first + count)
                    count += 1
        for table in MEMBERS:
            columns = columns_of(table)
            key, where, _ = members_of(name, table)
            listing = ", ".join(expression for _, _, expression in columns)
            rows = ask(f"copy (select {listing} from {table} p where {where} order by {key}) to stdout")
            for row in rows.splitlines():
                fields = row.split("\t")
                for at, (column, kind, _) in enumerate(columns):
                    # Of composite types there are no relations: what fields they have is known.
                    if column in OWNERS | SCHEMAS | {"typrelid"}:
                        fields[at] = "0"
                    elif kind in REG | {"oid", "oidvector", "oid[]"}:
                        fields[at] = re.sub(r"\d+", lambda found: numbers.get(found[0], found[0]), fields[at])
                bodies[table] += "\t".join(fields) + "\n"
    for name in reversed(EXTENSIONS):
        ask(f'drop extension "{name}"')
    for table, file in MEMBERS.items():
        header = "\t".join(column for column, _, _ in columns_of(table))
        (OUT / f"{file}.tsv").write_text(header + "\n" + bodies[table])


def main():
    OUT.mkdir(exist_ok=True)
    extensions()
    if sys.argv[1:] == ["extensions"]:
        return
    for table, (rows, order) in TABLES.items():
        columns = [column for column, _, _ in columns_of(table)]
        expressions = [expression for _, _, expression in columns_of(table)]
        copy(table, f"select {', '.join(expressions)} from {table} p where {rows} order by {order}", columns)
    copy("views", "select c.oid, pg_get_viewdef(c.oid) from pg_class c where relkind = 'v' and oid < 16384 order by 1",
         ["oid", "definition"])
    copy("keywords", "select word, catcode, barelabel from pg_get_keywords() order by word collate \"C\"",
         ["word", "catcode", "barelabel"])
    copy("catalog_foreign_keys",
         "select fktable::oid, array_to_string(fkcols, ','), pktable::oid, array_to_string(pkcols, ','), is_array, is_opt"
         " from pg_get_catalog_foreign_keys()",
         ["fktable", "fkcols", "pktable", "pkcols", "is_array", "is_opt"])


if __name__ == "__main__":
    main()

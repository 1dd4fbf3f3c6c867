"""Writes expected.txt: what PostgreSQL 15 makes of each statement of statements.sql.

Usage: generate.py HOST PORT USER (a scratch database server, initialised with --locale=C.UTF-8; needs the package pg8000).

For each statement a line `= parameter types | name:type, ...`, or `! SQLSTATE position message` and `? hint`.
"""

import pathlib
import sys

import pg8000.native

here = pathlib.Path(__file__).parent
host, port, user = sys.argv[1], int(sys.argv[2]), sys.argv[3]
connection = pg8000.native.Connection(user, host=host, port=port, database="postgres")
connection.run("drop table if exists t")
connection.run(
    "create table t (a int primary key, b varchar(10) default 'x', up int references t on delete cascade, check (a > 0))"
)
connection.run("create index ti on t (b desc)")
lines = []
for statement in (here / "statements.sql").read_text().splitlines():
    lines.append(statement)
    prefix = "prepare p as "
    try:
        connection.run("begin")
        connection.run(prefix + statement)
        types = connection.run("select parameter_types::text[] from pg_prepared_statements where name = 'p'")[0][0]
        nulls = ", ".join("null" for _ in types)
        connection.run("savepoint s")
        columns = None
        try:
            connection.run("execute p" + (f"({nulls})" if nulls else ""))
            columns = connection.columns
        except pg8000.native.DatabaseError as error:
            # What PostgreSQL finds when it plans, the binder here finds already.
            if error.args[0]["C"].startswith("42"):
                raise
            lines.append("= " + ", ".join(types) + " | fails when run")
            continue
        shown = []
        for column in columns or []:
            name = connection.run(
                "select format_type(:o, :m)", o=column["type_oid"], m=column["type_modifier"]
            )[0][0]
            shown.append(f"{column['name']}:{name}")
        lines.append("= " + ", ".join(types) + " | " + ", ".join(shown))
    except pg8000.native.DatabaseError as error:
        fields = error.args[0]
        position = int(fields["P"]) - len(prefix) if "P" in fields else 0
        lines.append(f"! {fields['C']} {position} {fields['M']}")
        if "H" in fields:
            lines.append(f"? {fields['H']}")
    finally:
        connection.run("rollback")
        connection.run("deallocate all")
(here / "expected.txt").write_text("\n".join(lines) + "\n")

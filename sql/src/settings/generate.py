#!/usr/bin/env python3
"""Writes data/pg_settings.tsv from a running PostgreSQL 15 that was initialised with --locale=C.UTF-8 -E UTF8.

    psql environment variables (PGHOST, PGPORT, PGUSER) say where it is:  PGPORT=5433 ./generate.py

One line a setting as COPY TO STDOUT writes it (tabs, \\N), under a header line of column names, in byte order of the
lower-case names. `enumvals` are joined by commas, `flags` are those of pg_settings_get_flags().
"""
import pathlib
import subprocess

COLUMNS = ["name", "unit", "category", "short_desc", "extra_desc", "context", "vartype", "min_val", "max_val", "enumvals",
           "boot_val", "flags"]
EXPRESSIONS = {
    "enumvals": "array_to_string(enumvals, ',')",
    "flags": "array_to_string(pg_settings_get_flags(name), ',')",
}


def main():
    listed = ", ".join(EXPRESSIONS.get(column, column) for column in COLUMNS)
    query = f"copy (select {listed} from pg_settings order by lower(name) collate \"C\") to stdout"
    rows = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", query], check=True,
                          capture_output=True, text=True).stdout
    out = pathlib.Path(__file__).resolve().parent / "data" / "pg_settings.tsv"
    out.write_text("\t".join(COLUMNS) + "\n" + rows)


if __name__ == "__main__":
    main()

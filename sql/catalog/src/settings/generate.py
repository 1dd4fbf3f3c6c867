#!/usr/bin/env python3
"""Writes data/pg_settings.tsv, and data/library_settings.tsv with the settings of libraries, from a running PostgreSQL 15 that was initialised with --locale=C.UTF-8 -E UTF8.

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


# Libraries that the server has built in, which bring settings of their own.
LIBRARIES = ["auto_explain", "pg_stat_statements", "pg_trgm"]


def write(file, condition):
    """One file."""
    listed = ", ".join(EXPRESSIONS.get(column, column) for column in COLUMNS)
    query = (f"copy (select {listed} from pg_settings where {condition} order by lower(name) collate \"C\") "
             "to stdout")
    rows = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", query], check=True,
                          capture_output=True, text=True).stdout
    out = pathlib.Path(__file__).resolve().parent / "data" / file
    out.write_text("\t".join(COLUMNS) + "\n" + rows)


def main():
    own = " or ".join(f"name like '{library}.%'" for library in LIBRARIES)
    write("pg_settings.tsv", f"not ({own})")
    # The server has been started with them: one of pg_stat_statements' is there only then.
    write("library_settings.tsv", own)


if __name__ == "__main__":
    main()

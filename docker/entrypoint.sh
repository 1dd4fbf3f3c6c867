#!/bin/sh
# Makes the database on the first start, then serves it. Arguments go to `atoll serve`; a first argument that is a
# command of its own (init, check, --version, a shell) is run as it is.
set -eu

case "${1:-serve}" in
    init | check | --version | --help) exec atoll "$@" ;;
    serve) [ $# -eq 0 ] || shift ;;
    -*) ;;
    *) exec "$@" ;;
esac

data=${ATOLL_DATA:-/var/lib/atoll/data}
if [ ! -e "$data/control" ]; then
    if [ -z "${POSTGRES_PASSWORD:-}" ]; then
        echo "entrypoint: POSTGRES_PASSWORD is not set; the superuser needs a password to be reached from outside" >&2
        exit 1
    fi
    umask 077
    password=$(mktemp)
    printf '%s\n' "$POSTGRES_PASSWORD" > "$password"
    if ! atoll init --data "$data" --username "${POSTGRES_USER:-postgres}" --pwfile "$password"; then
        rm -f "$password"
        exit 1
    fi
    rm -f "$password"
fi
# Other programs of the container have no business with the password.
unset POSTGRES_PASSWORD

exec atoll serve --data "$data" --listen '*:5432' "$@"

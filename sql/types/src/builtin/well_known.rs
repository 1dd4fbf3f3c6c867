//! OIDs that PostgreSQL's own initial contents have.

use crate::Oid;

/// The superuser that `init` makes.
pub const SUPERUSER: Oid = Oid(10);
/// `pg_database_owner`, which owns the schema public.
pub const DATABASE_OWNER: Oid = Oid(6171);
/// The relations of the system that all databases share.
pub const SHARED_RELATIONS: [u32; 11] =
    [1213, 1214, 1260, 1261, 1262, 2396, 2964, 3592, 6000, 6100, 6243];
/// `pg_read_all_settings`.
pub const READ_ALL_SETTINGS: Oid = Oid(3374);
/// `pg_read_all_stats`.
pub const READ_ALL_STATS: Oid = Oid(3375);
/// `pg_read_server_files`.
pub const READ_SERVER_FILES: Oid = Oid(4569);
/// `pg_checkpoint`.
pub const CHECKPOINT: Oid = Oid(4544);
/// template1.
pub const TEMPLATE1: Oid = Oid(1);
/// template0.
pub const TEMPLATE0: Oid = Oid(4);
/// postgres.
pub const POSTGRES: Oid = Oid(5);
/// The schema `pg_catalog`.
pub const PG_CATALOG: Oid = Oid(11);
/// The schema `pg_toast`.
pub const PG_TOAST: Oid = Oid(99);
/// The schema public.
pub const PUBLIC: Oid = Oid(2200);
/// The first OID of users' objects.
pub const FIRST_NORMAL: u32 = 16384;
/// The first OID that no built-in object has by hand, and thus in every server (`FirstGenbkiObjectId`).
pub const FIRST_GENERATED: u32 = 10_000;
/// The tablespace `pg_default`.
pub const DEFAULT_TABLESPACE: Oid = Oid(1663);
/// `pg_class`'s own row, as `classoid` of descriptions and dependencies.
pub const PG_CLASS: Oid = Oid(1259);

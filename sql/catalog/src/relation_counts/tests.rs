//! What sessions count, without statements.

use super::cluster::RelationCounts;
use super::*;
use crate::testing::catalog;

const TABLE: Oid = Oid(1 << 30);
const DATABASE: Oid = crate::object::well_known::POSTGRES;

fn cluster() -> Arc<ClusterCounts> {
    Arc::new(ClusterCounts::new(&catalog()))
}

fn session(cluster: &Arc<ClusterCounts>, database: Oid) -> SessionCounts {
    SessionCounts::new(cluster, (database, SchemeKind::Mvcc), &Arc::default())
}

fn shown(session: &SessionCounts) -> RelationCounts {
    session.seen(true).relations.get(&TABLE).copied().unwrap_or_default()
}

fn insert(session: &SessionCounts, rows: usize) {
    (0..rows).for_each(|_| session.add(TABLE, Event::Inserted));
}

/// What is counted of a session that has gone stays, and what another one counts comes to it.
#[test]
fn the_counts_of_all_sessions_are_added_up() {
    let cluster = cluster();
    let reader = session(&cluster, DATABASE);
    let other = session(&cluster, DATABASE);
    insert(&other, 3);
    assert_eq!(other.running(TABLE)[Event::Inserted], 3);
    assert_eq!(shown(&reader), RelationCounts::default());
    other.end(true);
    assert_eq!(other.running(TABLE), Counts::default());
    drop(other);
    insert(&reader, 2);
    reader.end(true);
    assert_eq!(shown(&reader).counts[Event::Inserted], 5);
    let database = reader.seen(true).databases[&DATABASE];
    assert_eq!((database.counts[Event::Inserted], database.committed), (5, 2));
    let elsewhere = session(&cluster, Oid(1));
    assert_eq!(shown(&elsewhere), RelationCounts::default());
}

/// Who has looked sees the same to the end of his transaction, unless he asks anew.
#[test]
fn what_was_seen_stays_to_the_end_of_the_transaction() {
    let cluster = cluster();
    let (reader, other) = (session(&cluster, DATABASE), session(&cluster, DATABASE));
    assert!(reader.seen(false).relations.is_empty());
    insert(&other, 1);
    other.end(true);
    assert!(reader.seen(false).relations.is_empty());
    reader.forget_seen();
    assert_eq!(reader.seen(false).relations.len(), 1);
}

/// A reset, VACUUM and TRUNCATE count from where the counts have come to.
#[test]
fn counts_begin_anew() {
    let session = session(&cluster(), DATABASE);
    session.emptied(TABLE);
    insert(&session, 4);
    session.add(TABLE, Event::Deleted);
    session.end(true);
    let RelationCounts { counts, inserted_since_vacuum, live, .. } = shown(&session);
    assert_eq!((counts[Event::Died], inserted_since_vacuum, live), (1, 4, Some(3)));
    session.vacuumed(TABLE, 7);
    let RelationCounts { counts, inserted_since_vacuum, vacuums, .. } = shown(&session);
    assert_eq!((counts[Event::Died], inserted_since_vacuum, vacuums.asked), (0, 0, (1, Some(7))));
    assert_eq!(counts[Event::Inserted], 4);
    insert(&session, 1);
    session.emptied(TABLE);
    insert(&session, 2);
    session.end(true);
    assert_eq!(shown(&session).counts[Event::Inserted], 6);
    assert_eq!(shown(&session).live, Some(2));
    session.reset(Some(TABLE), 8);
    let reset = RelationCounts { live: Some(0), ..RelationCounts::default() };
    assert_eq!(shown(&session), reset);
    assert_eq!(session.seen(true).databases[&DATABASE].reset, Some(8));
}

/// What a rollback to a savepoint takes back is dead, and so is all that a rollback takes back.
#[test]
fn outcomes_are_known_at_the_end() {
    let session = session(&cluster(), DATABASE);
    session.emptied(TABLE);
    session.end(true);
    insert(&session, 1);
    let savepoint = session.savepoint();
    insert(&session, 2);
    session.add(TABLE, Event::Updated);
    session.emptied(TABLE);
    insert(&session, 5);
    session.rollback_to(&savepoint);
    session.end(true);
    let RelationCounts { counts, live, .. } = shown(&session);
    assert_eq!((counts[Event::Inserted], counts[Event::Updated]), (3, 1));
    assert_eq!((counts[Event::Died], counts[Event::Changed], live), (3, 1, Some(1)));
    insert(&session, 2);
    session.add(TABLE, Event::Deleted);
    session.end(false);
    let RelationCounts { counts, live, .. } = shown(&session);
    assert_eq!((counts[Event::Inserted], counts[Event::Deleted]), (5, 1));
    assert_eq!((counts[Event::Died], counts[Event::Changed], live), (5, 1, Some(1)));
}

/// A session that has met many relations gives up those that nobody keeps, and loses nothing.
#[test]
fn idle_relations_are_given_up() {
    let session = session(&cluster(), DATABASE);
    let kept = session.of(TABLE);
    for relation in 1..2000 {
        session.add(Oid(relation), Event::Scanned);
        session.end(true);
    }
    assert!(session.state.borrow().counts.len() < 2 * RELATIONS_KEPT);
    session.meet(&kept);
    kept.add(Event::Scanned);
    session.end(true);
    let seen = session.seen(true);
    assert_eq!(seen.relations[&TABLE].counts[Event::Scanned], 1);
    assert_eq!(seen.databases[&DATABASE].counts[Event::Scanned], 2000);
}

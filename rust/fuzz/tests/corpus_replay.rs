// SPDX-License-Identifier: GPL-2.0

//! Every target on every input that is kept in `corpus/`.

use std::{
    collections::BTreeSet,
    fs,
    panic::catch_unwind,
    path::Path, //
};

fn corpus() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus"))
}

/// The names in a folder, in order.
fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn replay(name: &str) {
    let (_, run) = oxe_fuzz::target(name).expect("a target of that name");
    let folder = corpus().join(name);
    let files = names(&folder);
    assert!(!files.is_empty(), "{} is empty", folder.display());
    let failed: Vec<_> = files
        .iter()
        .filter(|file| {
            let data = fs::read(folder.join(file)).unwrap();
            catch_unwind(|| run(&data)).is_err()
        })
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} inputs failed: {failed:?}; one by one: scripts/fuzz replay {name} {}/FILE",
        failed.len(),
        files.len(),
        folder.display()
    );
}

#[test]
fn each_target_has_its_corpus() {
    let targets: BTreeSet<_> = oxe_fuzz::TARGETS
        .iter()
        .map(|target| target.0.to_string())
        .collect();
    assert_eq!(names(corpus()), targets);
}

#[test]
fn engine() {
    replay("engine");
}

#[test]
fn icrc_mask() {
    replay("icrc_mask");
}

#[test]
fn packet_parse() {
    replay("packet_parse");
}

#[test]
fn ring_element() {
    replay("ring_element");
}

// SPDX-License-Identifier: MIT
//! `repscope manual`: completions, manual pages, documentation.

use std::path::Path;

use crate::fixtures::Folder;

#[test]
fn the_documentation_in_the_repository_is_what_the_declarations_say() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let run = Folder::new().run_words(&["manual", "docs", &docs.display().to_string(), "--check"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn pages_that_are_missing_or_changed_are_named() {
    let folder = Folder::new();
    folder.good("manual docs d");
    assert_eq!(folder.run("manual docs d --check").code, 0);
    folder.write("d/metrics/two_nn.md", b"changed");
    let run = folder.run("manual docs d --check");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("not current: metrics/two_nn.md"), "{}", run.stderr);
}

#[test]
fn shells_get_completions_and_man_its_pages() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = folder.good(&format!("manual completions {shell}")).stdout;
        assert!(text.contains("neighborhood") && text.contains("output-dir"), "{shell}");
    }
    folder.good("manual man m");
    let page = folder.read("m/repscope-geometry.1");
    assert!(
        page.contains(".TH repscope-geometry 1") && page.contains("clusters"),
        "{page}"
    );
    assert!(folder.files().contains(&"m/repscope.1".to_string()));
}

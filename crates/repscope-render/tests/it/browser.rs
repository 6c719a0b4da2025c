// SPDX-License-Identifier: MIT
//! The report page in a real browser: Chromium opens a copy of it that tries everything and writes down what it saw.
//!
//! Skipped, and says so, where no Chromium is in the PATH.

use crate::evaluated::{MODELS, page_of, results};
use repscope_io::write_whole;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// Runs before the page's own script.
const WATCH: &str = "<script>
window.errors = [];
addEventListener('error', (event) => errors.push('error: ' + event.message));
addEventListener('unhandledrejection', (event) => errors.push('rejected: ' + event.reason));
document.addEventListener('securitypolicyviolation', (event) => errors.push('blocked: ' + event.blockedURI + ' by ' + event.violatedDirective));
for (const level of ['error', 'warn']) {
  const own = console[level];
  console[level] = (...words) => { errors.push(level + ': ' + words.join(' ')); own(...words); };
}
</script>";

/// The first browser found; all of them take the same options.
fn browser() -> Option<PathBuf> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
    ];
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let files = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.into_iter().find(|file| file.is_file())
}

/// What the page answers to a script, whose last value is returned. `None` where there is no browser.
fn ask(name: &str, options: &[&str], script: &str) -> Option<Value> {
    let Some(browser) = browser() else {
        #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
        {
            eprintln!("skipped: no chromium in PATH");
        }
        return None;
    };
    let html = page_of(&results());
    let script = format!(
        "<pre id=\"outcome\"></pre><script>
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
addEventListener('load', async () => {{
  let outcome;
  try {{ outcome = await (async () => {{ await wait(100); {script} }})(); }} catch (error) {{ outcome = 'failed: ' + error.stack; }}
  document.getElementById('outcome').textContent = JSON.stringify(outcome);
}});
</script></body>"
    );
    let html = html
        .replacen("<title>", &format!("{WATCH}<title>"), 1)
        .replace("</body>", &script);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let page = folder.join(format!("{name}.html"));
    write_whole(&page, html.as_bytes()).expect("a page");
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args(["--virtual-time-budget=20000", "--window-size=1400,1000", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            folder.join(format!("{name}-profile")).display()
        ))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let answer = dom
        .split("<pre id=\"outcome\">")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next());
    let answer = answer.unwrap_or_else(|| panic!("no answer from {output:?}"));
    let answer = answer
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&nbsp;", "\u{a0}")
        .replace("&amp;", "&");
    Some(serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

#[test]
fn the_page_opens_without_errors_and_asks_the_network_for_nothing() {
    let script = "
        await document.fonts.ready;
        return {
          errors,
          requests: performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith('data:')),
          broken: window.broken === undefined ? 'no' : 'yes',
          fonts: [...document.fonts].filter((font) => font.status === 'loaded').length,
          overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          points: all('.map').map((map) => all('path', map).map((path) => path.getAttribute('d').split('M').length - 1).reduce((a, b) => a + b)),
        };";
    let Some(seen) = ask("opens", &[], script) else { return };
    let expected = json!({
        "errors": [], "requests": [], "broken": "no", "fonts": 2, "overflow": 0, "points": [100, 100, 100],
    });
    assert_eq!(seen, expected);
}

#[test]
fn tables_are_sorted_by_click_and_by_button() {
    let script = "
        const table = document.querySelector('#scores table');
        const own = (column) => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.v));
        const isFalling = (values) => values.every((v, i) => i === 0 || values[i - 1] >= v);
        const header = all('th', table.tHead).slice(1).find((th) => !isFalling(own(th.cellIndex)));
        const column = header.cellIndex;
        const values = () => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.v).filter((v) => v !== undefined).map(Number);
        const before = values();
        header.click();
        const falling = values();
        const first = header.getAttribute('aria-sort');
        header.querySelector('button').click();
        const rising = values();
        const second = header.getAttribute('aria-sort');
        const name = table.tHead.rows[0].cells[0];
        name.querySelector('button').click();
        const names = [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
        const numerically = (a, b) => a - b;
        const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
        return {
          changed: !same(before, falling), first, second,
          falling: same(falling, [...before].sort(numerically).reverse()),
          rising: same(rising, [...before].sort(numerically)),
          names: same(names, [...names].sort(new Intl.Collator('en', { numeric: true }).compare)),
          others: header.hasAttribute('aria-sort'), said: document.getElementById('said').textContent, errors,
        };";
    let Some(seen) = ask("sorts", &[], script) else { return };
    let expected = json!({
        "changed": true, "first": "descending", "second": "ascending", "falling": true, "rising": true, "names": true,
        "others": false, "said": "Sorted by model, ascending", "errors": [],
    });
    assert_eq!(seen, expected);
}

#[test]
fn a_hidden_model_leaves_tables_figures_and_maps_and_comes_back() {
    let script = "
        const name = NAME;
        const shown = (selector) => all(selector).filter((e) => (e.dataset.model === name || e.dataset.other === name) && getComputedStyle(e).display !== 'none').length;
        all('details').forEach((fold) => { fold.open = true; });
        const places = ['#scores [data-model]', '#differences tr[data-model]', '.drawing .series', '.map', '#worst details'];
        const count = () => places.map(shown);
        const others = () => all('.drawing .series').filter((e) => e.dataset.model === 'plain' && getComputedStyle(e).display !== 'none').length;
        const before = count();
        const plain = others();
        const box = all('input[data-toggle]').find((input) => input.dataset.toggle === name);
        box.click();
        const hidden = count();
        const kept = others() === plain && plain > 0;
        document.getElementById('show-all').click();
        return { before: before.every((n) => n > 0), hidden, kept, back: JSON.stringify(count()) === JSON.stringify(before), checked: box.checked, errors };";
    let script = script.replace("NAME", &Value::from(MODELS[1]).to_string().replace('<', "\\u003c"));
    let Some(seen) = ask("hides", &[], &script) else { return };
    let expected = json!({
        "before": true, "hidden": [0, 0, 0, 0, 0], "kept": true, "back": true, "checked": true, "errors": [],
    });
    assert_eq!(seen, expected);
}

/// Brightness of paper and of the text of a figure, from 0 to 255.
const BRIGHTNESS: &str = "
    const bright = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).map(Number); return Math.round((r + g + b) / 3); };
    const look = () => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.drawing text')).fill].map(bright);
";

#[test]
fn colors_follow_the_switch_and_the_system() {
    let script = format!(
        "{BRIGHTNESS}
        const light = look();
        document.querySelector('input[value=dark]').click();
        const dark = look();
        document.querySelector('input[value=auto]').click();
        return {{ light, dark, auto: look(), errors }};"
    );
    let Some(seen) = ask("switch", &["--blink-settings=preferredColorScheme=1"], &script) else {
        return;
    };
    // Paper #ffffff and ink #1a1a1a; paper #15181d and ink #eceef1: the means of three channels.
    assert_eq!(
        seen,
        json!({"light": [255, 26], "dark": [25, 238], "auto": [255, 26], "errors": []})
    );

    let script = format!(
        "{BRIGHTNESS}
        const auto = look();
        document.querySelector('input[value=light]').click();
        return {{ system: matchMedia('(prefers-color-scheme: dark)').matches, auto, light: look(), errors }};"
    );
    let Some(seen) = ask("system", &["--blink-settings=preferredColorScheme=0"], &script) else {
        return;
    };
    assert_eq!(
        seen,
        json!({"system": true, "auto": [25, 238], "light": [255, 26], "errors": []})
    );
}

#[test]
fn every_control_can_be_reached_by_keyboard_and_has_a_name() {
    let script = "
        all('details').forEach((details) => { details.open = true; });
        const controls = all('a[href], button, input, select, summary').filter((e) => e.getClientRects().length > 0);
        const name = (e) => e.getAttribute('aria-label') || (e.labels && [...e.labels].map((l) => l.textContent).join('')) || e.textContent;
        const unreached = controls.filter((e) => { e.focus(); return document.activeElement !== e || e.tabIndex < 0; });
        const unnamed = controls.filter((e) => !name(e).trim());
        const kinds = ['input[data-toggle]', 'input[name=theme]', 'button.sort', '#map-kind', '#color-by', '#find-row', '[data-zoom]', '.save', 'summary', 'nav a', '.skip', 'button.row'];
        const scrolling = all('.scroll').filter((e) => getComputedStyle(e).overflowX === 'auto' && e.scrollWidth > e.clientWidth && e.tabIndex < 0);
        return {
          unreached: unreached.map((e) => e.outerHTML), unnamed: unnamed.map((e) => e.outerHTML), scrolling: scrolling.length,
          missing: kinds.filter((kind) => !controls.some((e) => e.matches(kind))), first: controls[0].className, errors,
        };";
    let Some(seen) = ask("keyboard", &[], script) else {
        return;
    };
    let expected = json!({
        "unreached": [], "unnamed": [], "scrolling": 0, "missing": [], "first": "skip", "errors": [],
    });
    assert_eq!(seen, expected);
}

#[test]
fn maps_show_which_sample_is_where() {
    let script = "
        document.getElementById('maps').scrollIntoView();
        const maps = all('.map svg');
        const colors = () => new Set(all('path', maps[0]).map((path) => path.getAttribute('stroke')));
        const byLabel = colors().size;
        const choice = document.getElementById('color-by');
        choice.value = [...choice.options].find((option) => option.text.startsWith('trustworthiness')).value;
        choice.dispatchEvent(new Event('change'));
        const byValue = colors();
        const legend = all('.map-legend').filter((e) => !e.hidden).map((e) => e.textContent.includes('trustworthiness@'));
        const find = document.getElementById('find-row');
        find.value = '17';
        find.dispatchEvent(new Event('input'));
        const ringed = all('.ring').map((ring) => Number(ring.getAttribute('r')) > 0);
        const { left, top } = maps[0].querySelector('.ring').getBoundingClientRect();
        const radius = maps[0].querySelector('.ring').getBoundingClientRect().width / 2;
        maps[0].dispatchEvent(new PointerEvent('pointermove', { clientX: left + radius, clientY: top + radius, bubbles: true }));
        const tip = document.getElementById('tip');
        const text = tip.hidden ? '' : tip.textContent;
        const before = maps[1].getAttribute('viewBox');
        maps[1].closest('.map').querySelector('[data-zoom]').click();
        const zoomed = maps[1].getAttribute('viewBox') !== before;
        find.value = '1000';
        find.dispatchEvent(new Event('input'));
        return {
          byLabel, byValue: byValue.size > 3 && [...byValue].every((color) => color.startsWith('var(--v')), legend, ringed,
          tip: [/^row 17$/m.test(text), /^label: hen$/m.test(text), /^trustworthiness@\\d+: [\\d.-]+$/m.test(text)], zoomed,
          absent: document.getElementById('found-row').textContent, errors,
        };";
    let Some(seen) = ask("maps", &[], script) else { return };
    // Row 17 is in group 17 mod 3 = 2.
    let expected = json!({
        "byLabel": 3, "byValue": true, "legend": [true], "ringed": [true, true, true], "tip": [true, true, true],
        "zoomed": true, "absent": "is not on the maps", "errors": [],
    });
    assert_eq!(seen, expected);
}

#[test]
fn maps_switch_to_tsne_and_back_in_the_same_colors() {
    let script = "
        const maps = all('.map svg');
        const points = () => all('path', maps[0]).map((path) => path.getAttribute('d')).join(' ');
        const colors = () => all('path', maps[0]).map((path) => path.getAttribute('stroke')).sort().join(' ');
        const count = () => points().split('M').length - 1;
        const under = () => maps[0].closest('.map').querySelector('.under').innerText;
        const about = () => all('.map-about').filter((p) => !p.hidden).map((p) => p.textContent).join(' ');
        const label = () => maps[0].getAttribute('aria-label');
        const find = document.getElementById('find-row');
        find.value = '17';
        find.dispatchEvent(new Event('input'));
        const ring = () => ['cx', 'cy'].map((name) => Math.round(Number(maps[0].querySelector('.ring').getAttribute(name))));
        const before = [points(), colors(), label(), under(), about()];
        const ringed = ring();
        maps[0].closest('.map').querySelector('[data-zoom]').click();
        const kind = document.getElementById('map-kind');
        kind.focus();
        kind.value = '1';
        kind.dispatchEvent(new Event('change'));
        const after = [points(), colors(), label(), under(), about()];
        const said = document.getElementById('said').textContent;
        const seen = {
          moved: after[0] !== before[0], colors: after[1] === before[1], points: count(), whole: maps[0].getAttribute('viewBox'),
          label: after[2], under: /t-SNE 1[^]*t-SNE 2/.test(after[3]) && !after[3].includes('PC 1'),
          about: after[4].startsWith('t-SNE of all 100 samples: perplexity 30, 750 steps') && after[4].includes('not to be read'),
          ring: String(ring()) !== String(ringed), focus: document.activeElement === kind, said,
        };
        kind.value = '0';
        kind.dispatchEvent(new Event('change'));
        return { ...seen, back: String([points(), colors(), label(), under(), about()]) === String(before), errors };";
    let Some(seen) = ask("tsne", &[], script) else { return };
    let expected = json!({
        "moved": true, "colors": true, "points": 100, "whole": "0 0 1000 800",
        "label": "Map of plain: t-SNE 1 to the right, t-SNE 2 upwards, colored by label.", "under": true, "about": true,
        "ring": true, "focus": true, "said": "Maps: t-SNE", "back": true, "errors": [],
    });
    assert_eq!(seen, expected);
}

#[test]
fn figures_show_values_and_are_saved_as_whole_drawings() {
    let script = "
        const part = all('.drawing rect[data-tip]')[0];
        part.scrollIntoView();
        const box = part.getBoundingClientRect();
        part.ownerSVGElement.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
        const tip = document.getElementById('tip');
        const shown = !tip.hidden && tip.textContent.length > 3;
        let saved = null;
        URL.createObjectURL = (blob) => { saved = blob; return '#saved'; };
        URL.revokeObjectURL = () => {};
        document.querySelector('input[value=dark]').click();
        all('.save')[0].click();
        const text = await saved.text();
        const drawing = new DOMParser().parseFromString(text, 'image/svg+xml');
        return {
          shown, parsed: drawing.documentElement.nodeName, variables: text.includes('var('), font: text.includes('@font-face'),
          dark: text.includes('#ececef') || text.includes('#eceef1'), titles: drawing.querySelectorAll('title').length > 0, errors,
        };";
    let Some(seen) = ask("figures", &[], script) else {
        return;
    };
    let expected = json!({
        "shown": true, "parsed": "svg", "variables": false, "font": true, "dark": false, "titles": true, "errors": [],
    });
    assert_eq!(seen, expected);
}

#[test]
fn definitions_open_by_their_links_and_for_paper() {
    let script = "
        const link = document.querySelector('#scores a[href=\"#about-trustworthiness\"]');
        const card = document.getElementById('about-trustworthiness').closest('details');
        const before = card.open;
        link.click();
        await wait(50);
        const opened = card.open;
        const closed = all('.card:not([open])').length;
        dispatchEvent(new Event('beforeprint'));
        const left = all('.card:not([open])').length;
        dispatchEvent(new Event('afterprint'));
        return { before, opened, closed: closed > 5, left, back: all('.card:not([open])').length === closed, errors };";
    let Some(seen) = ask("cards", &[], script) else { return };
    let expected = json!({
        "before": false, "opened": true, "closed": true, "left": 0, "back": true, "errors": [],
    });
    assert_eq!(seen, expected);
}

#[test]
fn a_narrow_window_scrolls_tables_and_not_the_page() {
    let script = "
        return { narrow: innerWidth < 640, overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth, errors };";
    let Some(seen) = ask("narrow", &["--window-size=400,800"], script) else {
        return;
    };
    assert_eq!(seen, json!({"narrow": true, "overflow": 0, "errors": []}));
}

#[test]
fn every_text_has_the_contrast_of_level_aa_in_both_themes() {
    let script = "
        all('details').forEach((fold) => { fold.open = true; });
        const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
        const light = ([r, g, b]) => [r, g, b]
          .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const ground = (e) => {
          for (let own = e; own; own = own.parentElement) {
            const color = channels(getComputedStyle(own).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
          }
          return [255, 255, 255];
        };
        const low = (theme) => {
          document.documentElement.dataset.theme = theme;
          const texts = all('body *').filter((e) => !e.closest('svg, script, style, #outcome')
            && [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && e.getClientRects().length);
          const bad = texts.map((e) => {
            const [a, b] = [light(channels(getComputedStyle(e).color)), light(ground(e))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${e.tagName}.${e.className}`];
          }).filter(([ratio]) => ratio < 4.5);
          return { texts: texts.length > 200, bad: [...new Set(bad.map(([ratio, name]) => `${name} ${ratio.toFixed(2)}`))] };
        };
        return { sorts: all('button.sort').length > 5, light: low('light'), dark: low('dark') };";
    let Some(seen) = ask("contrast", &[], script) else {
        return;
    };
    let fine = json!({"texts": true, "bad": []});
    assert_eq!(seen, json!({"sorts": true, "light": fine, "dark": fine}));
}

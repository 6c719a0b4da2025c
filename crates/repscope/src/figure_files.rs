// SPDX-License-Identifier: MIT
//! Which panels of the figures are drawn.

use anyhow::{Result, bail};
use repscope_figures::{Figure, Letters, panel_letter};
use repscope_render::NamedFigure;

use crate::options::FigureOptions;

/// The figures with the requested panels only; those without any of them are left out. Letters begin anew at a, and the path ends in
/// the letters that the panels had, so that the whole figure is not replaced.
pub fn chosen(figures: Vec<NamedFigure>, options: &FigureOptions) -> Vec<NamedFigure> {
    if options.panel.is_empty() {
        return figures;
    }
    let choose = |mut named: NamedFigure| {
        let figure = &mut named.figure;
        let is_wanted = |index: usize| options.panel.iter().any(|name| is_named(figure, index, name));
        let kept: Vec<usize> = (0..figure.panels.len()).filter(|index| is_wanted(*index)).collect();
        if kept.len() < figure.panels.len() {
            named
                .path
                .extend(kept.iter().map(|index| format!("_{}", panel_letter(*index))));
        }
        let panels = std::mem::take(&mut figure.panels).into_iter().enumerate();
        figure.panels = panels
            .filter(|(index, _)| kept.contains(index))
            .map(|(_, panel)| panel)
            .collect();
        (!kept.is_empty()).then_some(named)
    };
    figures.into_iter().filter_map(choose).collect()
}

/// Refuses a name that is no panel of any figure.
pub fn check<'a>(figures: impl Iterator<Item = &'a NamedFigure> + Clone, options: &FigureOptions) -> Result<()> {
    let is_known = |name: &str| {
        let mut all = figures.clone().map(|named| &named.figure);
        all.any(|figure| (0..figure.panels.len()).any(|index| is_named(figure, index, name)))
    };
    let Some(unknown) = options.panel.iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    if figures.clone().next().is_none() {
        bail!("there is no panel `{unknown}`: these results have no figures");
    }
    let mut lines = String::new();
    for named in figures {
        let name = named.path.rsplit('/').next().unwrap_or_default();
        let panels = (0..named.figure.panels.len()).map(|index| {
            let letter = letter(&named.figure, index).map_or(String::new(), |letter| format!("{letter} "));
            format!("{letter}`{}`", plain(&named.figure.panels[index].title))
        });
        lines += &format!("\n  {name}: {}", panels.collect::<Vec<_>>().join(", "));
    }
    bail!("there is no panel `{unknown}`; give a letter or a title of `panel` from these figures:{lines}")
}

/// Whether a panel has this letter or this title, with or without its arrow and in capitals or not.
fn is_named(figure: &Figure, index: usize, name: &str) -> bool {
    let name = plain(name).to_lowercase();
    let title = plain(&figure.panels[index].title).to_lowercase();
    !name.is_empty() && (name == title || letter(figure, index).is_some_and(|letter| letter == name))
}

/// The letter that a reader sees at a panel.
fn letter(figure: &Figure, index: usize) -> Option<String> {
    (figure.letters == Letters::Shown && figure.panels.len() > 1).then(|| panel_letter(index))
}

/// A title without the arrow of its direction.
fn plain(title: &str) -> &str {
    title.trim().trim_end_matches(['↑', '↓']).trim_end()
}

#[cfg(test)]
mod tests {
    use repscope_figures::{Content, Panel};

    use super::*;

    fn figure(path: &str, titles: &[&str]) -> NamedFigure {
        let panel = |title: &&str| Panel::new(*title, Content::Text("none".to_string()));
        NamedFigure {
            path: path.to_string(),
            figure: Figure {
                panels: titles.iter().map(panel).collect(),
                ..Figure::default()
            },
        }
    }

    fn options(panels: &[&str]) -> FigureOptions {
        FigureOptions {
            panel: panels.iter().map(ToString::to_string).collect(),
            ..FigureOptions::default()
        }
    }

    #[test]
    fn a_panel_is_chosen_by_its_letter_or_its_title() {
        let all = || {
            vec![
                figure("geometry/all", &["Uniformity ↓", "Silhouette ↑", "Summary"]),
                figure("rankme/one", &["Spectrum"]),
            ]
        };
        assert_eq!(chosen(all(), &options(&[])), all());
        for name in ["b", "B", "silhouette", "Silhouette ↑"] {
            let drawn = chosen(all(), &options(&[name]));
            assert_eq!(drawn, [figure("geometry/all_b", &["Silhouette ↑"])], "{name}");
        }
        let drawn = chosen(all(), &options(&["c", "uniformity", "spectrum"]));
        let expected = [
            figure("geometry/all_a_c", &["Uniformity ↓", "Summary"]),
            figure("rankme/one", &["Spectrum"]),
        ];
        assert_eq!(drawn, expected);
        // The only panel of a figure shows no letter.
        assert!(chosen(all()[1..].to_vec(), &options(&["a"])).is_empty());
    }

    #[test]
    fn an_unknown_panel_is_refused_with_those_there_are() {
        let all = [
            figure("geometry/all", &["Uniformity ↓", "Summary"]),
            figure("rankme/one", &["Spectrum"]),
        ];
        assert!(check(all.iter(), &options(&["b", "spectrum"])).is_ok());
        let error = check(all.iter(), &options(&["a", "d"])).unwrap_err().to_string();
        assert!(error.starts_with("there is no panel `d`"), "{error}");
        assert!(
            error.contains("all: a `Uniformity`, b `Summary`\n  one: `Spectrum`"),
            "{error}"
        );
    }
}

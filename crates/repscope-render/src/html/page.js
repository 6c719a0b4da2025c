// SPDX-License-Identifier: MIT
// What the page can do beyond being read: sort and filter tables, hide models, show values, save figures, move in maps.
'use strict';
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, attributes = {}, text = '') => {
    const element = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.textContent = text;
    return element;
  };
  const say = (text) => { document.getElementById('said').textContent = text; };
  root.classList.add('scripts');

  // Theme
  all('input[name=theme]').forEach((input) => input.addEventListener('change', () => {
    if (input.value === 'auto') delete root.dataset.theme; else root.dataset.theme = input.value;
  }));

  // Models
  const boxes = all('input[data-toggle]');
  const showAll = document.getElementById('show-all');
  const showModels = () => {
    const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.toggle));
    all('[data-model]').forEach((element) => {
      // In figures a name may also be that of a class or a direction: only series are models.
      if (element.ownerSVGElement && !element.classList.contains('series')) return;
      const isHidden = hidden.has(element.dataset.model) || hidden.has(element.dataset.other);
      element.classList.toggle('is-hidden', isHidden);
    });
    showAll.hidden = hidden.size === 0;
    say(hidden.size ? `Hidden: ${[...hidden].join(', ')}` : 'All models are shown');
  };
  boxes.forEach((box) => box.addEventListener('change', showModels));
  if (showAll) showAll.addEventListener('click', () => {
    boxes.forEach((box) => { box.checked = true; });
    showModels();
    boxes[0].focus();
  });

  // Tables: columns of different units below each other are not sorted; numbers from the largest, text from A; a second click turns the order; rows without a value stay last.
  const words = new Intl.Collator('en', { numeric: true });
  const sort = (table, column, header) => {
    const isNumber = header.classList.contains('num');
    const before = header.getAttribute('aria-sort');
    const order = before ? (before === 'descending' ? 'ascending' : 'descending') : (isNumber ? 'descending' : 'ascending');
    const sign = order === 'ascending' ? 1 : -1;
    const key = (row) => {
      const cell = row.cells[column];
      if (!isNumber) return (cell.querySelector('code') || cell).textContent.trim();
      return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
    };
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (isNumber ? a - b : words.compare(a, b));
    });
    body.append(...keyed.map(([, row]) => row));
    all('th', table.tHead).forEach((other) => {
      other.removeAttribute('aria-sort');
      const mark = other.querySelector('.sort');
      if (mark) mark.textContent = '▾';
    });
    header.setAttribute('aria-sort', order);
    header.querySelector('.sort').textContent = sign === 1 ? '▴' : '▾';
    say(`Sorted by ${header.dataset.name}, ${order}`);
  };
  all('table.data').forEach((table) => {
    if (table.tBodies[0].rows.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      if (header.classList.contains('plain') || header.classList.contains('mixed')) return;
      const first = header.querySelector('code') || header;
      header.dataset.name = first.textContent.trim();
      header.classList.add('sortable');
      const button = make('button', { type: 'button', class: 'sort', 'aria-label': `Sort by ${header.dataset.name}` }, '▾');
      const small = header.querySelector('small');
      header.insertBefore(button, small);
      header.addEventListener('click', (event) => { if (!event.target.closest('a')) sort(table, column, header); });
    });
    const region = table.closest('.scroll');
    if (!region.classList.contains('tall')) return;
    const filter = make('label', { class: 'filter' }, 'Filter rows');
    const input = make('input', { type: 'search' });
    filter.append(input);
    input.addEventListener('input', () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      [...table.tBodies[0].rows].forEach((row) => {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word));
      });
    });
    region.before(filter);
  });
  // Scores: those that answer, or all; a search looks at all.
  const scores = document.getElementById('scores');
  const findScore = document.getElementById('find-score');
  const allScores = document.getElementById('all-scores');
  if (scores && findScore) {
    const folds = all('details.analysis', scores);
    const wereOpen = folds.map((fold) => fold.open);
    const search = () => {
      const wanted = findScore.value.toLowerCase().split(/\s+/).filter(Boolean);
      const fits = (name) => wanted.every((word) => name.toLowerCase().includes(word));
      scores.classList.toggle('headlines', !allScores.checked && wanted.length === 0);
      all('table.scores', scores).forEach((table) => {
        const heads = [...table.tHead.rows[0].cells];
        const isByModel = table.classList.contains('by-model');
        const shown = heads.map((head, i) => !isByModel || i === 0 || fits(head.dataset.name || head.textContent));
        heads.forEach((head, i) => { head.hidden = !shown[i]; });
        [...table.tBodies[0].rows].forEach((row) => {
          [...row.cells].forEach((cell, i) => { cell.hidden = !shown[i]; });
          row.hidden = !isByModel && !fits(row.cells[0].querySelector('code')?.textContent ?? row.cells[0].textContent);
        });
        const hits = isByModel ? shown.length > 1 && shown.slice(1).some(Boolean) : [...table.tBodies[0].rows].some((row) => !row.hidden);
        const fold = table.closest('details.analysis');
        fold.hidden = wanted.length > 0 && !hits;
        fold.open = wanted.length > 0 ? hits : wereOpen[folds.indexOf(fold)];
      });
      fit();
    };
    findScore.addEventListener('input', search);
    allScores.addEventListener('change', search);
    scores.classList.add('headlines');
  }
  // A link to a folded table unfolds it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === 'DETAILS') target.open = true;
  };
  addEventListener('hashchange', unfold);
  all('.verdict a').forEach((link) => link.addEventListener('click', () => setTimeout(unfold)));
  unfold();
  // A header can only stay in sight of the whole page where its table needs no scrolling of its own.
  const fit = () => all('.scroll:not(.tall)').forEach((region) => {
    region.classList.remove('fits');
    const fits = region.scrollWidth <= region.clientWidth + 1;
    region.classList.toggle('fits', fits);
    if (fits) region.removeAttribute('tabindex'); else region.setAttribute('tabindex', '0');
  });
  fit();
  addEventListener('resize', fit);
  all('details').forEach((details) => details.addEventListener('toggle', fit));
  if (document.fonts) document.fonts.ready.then(fit);

  // Values: the titles of a figure's parts, shown at once instead of after a while.
  const tip = document.getElementById('tip');
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
    tip.style.top = `${y + 18 + height > innerHeight ? y - height - 12 : y + 18}px`;
  };
  const hideTip = () => { tip.hidden = true; };
  all('.drawing svg').forEach((svg) => {
    all('title', svg).forEach((title) => {
      title.parentNode.dataset.tip = title.textContent;
      title.remove();
    });
    svg.addEventListener('pointermove', (event) => {
      // Small marks are met a few pixels beside them, and below the lines that cross them.
      const near = [[0, 0], [4, 0], [-4, 0], [0, 4], [0, -4]].flatMap(([x, y]) => document.elementsFromPoint(event.clientX + x, event.clientY + y));
      const part = near.map((element) => element.closest('.drawing [data-tip]')).find(Boolean);
      if (part) showTip(part.dataset.tip, event.clientX, event.clientY); else hideTip();
    });
    svg.addEventListener('pointerleave', hideTip);
  });
  addEventListener('keydown', (event) => { if (event.key === 'Escape') hideTip(); });
  addEventListener('scroll', hideTip, { passive: true });

  // Figures as files of their own: light, with their font.
  const paper = make('div', { class: 'paper', hidden: '' });
  document.body.append(paper);
  const asFile = (figure) => {
    const shown = all('svg', figure).find((svg) => svg.getBoundingClientRect().width > 0) || figure.querySelector('svg');
    const svg = shown.cloneNode(true);
    all('.is-hidden', svg).forEach((element) => element.remove());
    all('[data-tip]', svg).forEach((element) => {
      const title = document.createElementNS(svg.namespaceURI, 'title');
      title.textContent = element.dataset.tip;
      element.prepend(title);
      element.removeAttribute('data-tip');
    });
    const style = document.createElementNS(svg.namespaceURI, 'style');
    style.textContent = document.getElementById('font').textContent;
    svg.prepend(style);
    ['aria-labelledby', 'aria-describedby'].forEach((name) => svg.removeAttribute(name));
    svg.setAttribute('aria-label', figure.querySelector('h3, h4').textContent);
    const colors = getComputedStyle(paper);
    const text = new XMLSerializer().serializeToString(svg);
    return text.replace(/var\((--k\d+)\)/g, (_, name) => colors.getPropertyValue(name).trim());
  };
  all('.drawing').forEach((figure) => {
    const button = figure.querySelector('.save');
    button.hidden = false;
    button.setAttribute('aria-label', `Save as SVG: ${figure.querySelector('h3, h4').textContent}`);
    button.addEventListener('click', () => {
      const url = URL.createObjectURL(new Blob([asFile(figure)], { type: 'image/svg+xml' }));
      const link = make('a', { href: url, download: `${figure.dataset.name}.svg` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
  });

  // Cards open when a link leads to them, and for paper.
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target && target.closest('details');
    if (details) {
      details.open = true;
      details.querySelector('summary').focus({ preventScroll: true });
      details.scrollIntoView();
    }
  };
  addEventListener('hashchange', open);
  open();
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('.card:not([open])');
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener('afterprint', () => { closed.forEach((details) => { details.open = false; }); });

  // Maps
  const source = document.getElementById('map-data');
  if (!source) return;
  const NOTHING = 65535;
  const NAMESPACE = 'http://www.w3.org/2000/svg';
  const unpack = (text) => {
    const bytes = atob(text);
    const numbers = new Uint16Array(bytes.length / 2);
    for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.charCodeAt(2 * i) | bytes.charCodeAt(2 * i + 1) << 8;
    return numbers;
  };
  const data = JSON.parse(source.textContent);
  const [width, height] = data.size;
  data.models.forEach((model) => model.maps.forEach((map) => { map.x = unpack(map.x); map.y = unpack(map.y); }));
  data.colorings.forEach((coloring) => {
    coloring.of = coloring.names ? unpack(coloring.of) : coloring.of.map(unpack);
  });
  const count = data.models[0].maps[0].x.length;
  let kind = 0;
  const placesOf = (map) => data.models[map.model].maps[kind];
  const rowAt = (i) => (data.rows ? data.rows[i] : i);
  const valueOf = (coloring, model, i) => {
    const step = coloring.of[model][i];
    if (step === undefined || step === NOTHING) return null;
    const [low, high] = coloring.range;
    return low + step / (NOTHING - 1) * (high - low);
  };
  const colorOf = (coloring, model, i) => {
    if (!coloring) return null;
    if (coloring.names) {
      const color = coloring.colors[coloring.of[i]];
      return color === null || color === undefined ? 'other' : `c${color}`;
    }
    const value = valueOf(coloring, model, i);
    if (value === null) return 'other';
    return `v${coloring.edges.slice(1, -1).filter((edge) => edge <= value).length}`;
  };
  const written = (x) => String(Number(x.toPrecision(4)));
  const maps = all('.map svg').map((svg) => ({
    svg, model: Number(svg.dataset.map), points: svg.querySelector('.points'), ring: svg.querySelector('.ring'), box: [0, 0, width, height],
  }));

  const draw = (map, coloring) => {
    const { x, y } = placesOf(map);
    const own = map.points.querySelector('path');
    const plain = own ? own.getAttribute('stroke') : '';
    const paths = new Map();
    for (let i = 0; i < count; i++) {
      if (x[i] === NOTHING) continue;
      const color = colorOf(coloring, map.model, i);
      const at = `M${x[i] / data.unit} ${y[i] / data.unit}h0`;
      if (paths.has(color)) paths.get(color).push(at); else paths.set(color, [at]);
    }
    // Grey lies below; low values, which one looks for, lie on top.
    const rank = (color) => (color === null || color === 'other' ? -1 : Number(color.slice(1)));
    const isValue = coloring && !coloring.names;
    const order = [...paths].sort(([a], [b]) => {
      if (rank(a) < 0 || rank(b) < 0) return rank(a) - rank(b);
      return isValue ? rank(b) - rank(a) : rank(a) - rank(b);
    });
    map.points.replaceChildren(...order.map(([color, d]) => {
      const path = document.createElementNS(NAMESPACE, 'path');
      path.setAttribute('stroke', color === null ? plain : `var(--${color})`);
      path.setAttribute('d', d.join(''));
      return path;
    }));
  };

  const choice = document.getElementById('color-by');
  const recolor = () => {
    const coloring = data.colorings[choice ? Number(choice.value) : 0];
    maps.forEach((map) => {
      draw(map, coloring);
      map.svg.setAttribute('aria-label', `${placesOf(map).about}${coloring ? `, colored by ${coloring.name}` : ''}.`);
    });
    all('.map-legend').forEach((legend) => { legend.hidden = data.colorings[legend.dataset.coloring] !== coloring; });
  };
  if (choice) choice.addEventListener('change', recolor);
  recolor();

  const describe = (model, i) => {
    const lines = data.colorings.map((coloring) => {
      if (coloring.names) return `${coloring.name}: ${coloring.names[coloring.of[i]] ?? '—'}`;
      const value = valueOf(coloring, model, i);
      return `${coloring.name}: ${value === null ? '—' : written(value)}`;
    });
    return [`row ${rowAt(i)}`, ...lines].join('\n');
  };
  const scale = (map) => map.svg.getBoundingClientRect().width / map.box[2];
  const ring = (i) => maps.forEach((map) => {
    const { x, y } = placesOf(map);
    const isShown = i !== null && x[i] !== NOTHING;
    map.ring.setAttribute('r', isShown ? 7 / (scale(map) || 1) : 0);
    if (isShown) {
      map.ring.setAttribute('cx', x[i] / data.unit);
      map.ring.setAttribute('cy', y[i] / data.unit);
    }
  });
  const nearest = (map, event) => {
    const frame = map.svg.getBoundingClientRect();
    const unit = scale(map);
    const { x, y } = placesOf(map);
    let best = null;
    let least = (14 / unit) ** 2;
    const px = map.box[0] + (event.clientX - frame.left) / unit;
    const py = map.box[1] + (event.clientY - frame.top) / unit;
    for (let i = 0; i < count; i++) {
      if (x[i] === NOTHING) continue;
      const distance = (x[i] / data.unit - px) ** 2 + (y[i] / data.unit - py) ** 2;
      if (distance < least) { least = distance; best = i; }
    }
    return best;
  };
  let found = null;
  const look = (map, box) => {
    map.box = box;
    map.svg.setAttribute('viewBox', box.join(' '));
    ring(found);
  };
  const zoom = (map, factor, cx = map.box[0] + map.box[2] / 2, cy = map.box[1] + map.box[3] / 2) => {
    const wide = Math.max(width / 60, Math.min(width, map.box[2] / factor));
    const ratio = wide / map.box[2];
    const box = [cx - (cx - map.box[0]) * ratio, cy - (cy - map.box[1]) * ratio, wide, map.box[3] * ratio];
    look(map, wide === width ? [0, 0, width, height] : box);
  };
  maps.forEach((map) => {
    let from = null;
    map.svg.addEventListener('pointerdown', (event) => {
      if (event.button === 0 && event.pointerType === 'mouse') from = [event.clientX, event.clientY, map.box];
    });
    map.svg.addEventListener('pointermove', (event) => {
      if (from && event.buttons === 1) {
        const unit = scale(map);
        const [x, y, box] = from;
        if (!map.svg.classList.contains('moving')) map.svg.setPointerCapture(event.pointerId);
        map.svg.classList.add('moving');
        look(map, [box[0] - (event.clientX - x) / unit, box[1] - (event.clientY - y) / unit, box[2], box[3]]);
        hideTip();
        return;
      }
      const i = nearest(map, event);
      ring(i === null ? found : i);
      if (i === null) hideTip(); else showTip(describe(map.model, i), event.clientX, event.clientY);
    });
    const stop = () => { from = null; map.svg.classList.remove('moving'); };
    map.svg.addEventListener('pointerup', stop);
    map.svg.addEventListener('pointercancel', stop);
    map.svg.addEventListener('pointerleave', () => { hideTip(); ring(found); });
    map.svg.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const frame = map.svg.getBoundingClientRect();
      const unit = scale(map);
      zoom(map, event.deltaY < 0 ? 1.25 : 0.8, map.box[0] + (event.clientX - frame.left) / unit, map.box[1] + (event.clientY - frame.top) / unit);
    }, { passive: false });
    all('[data-zoom]', map.svg.closest('.map')).forEach((button) => button.addEventListener('click', () => {
      const factor = Number(button.dataset.zoom);
      if (factor) zoom(map, factor); else look(map, [0, 0, width, height]);
    }));
  });

  // The other map of the same embeddings: all of it, in the same colors.
  const kinds = document.getElementById('map-kind');
  if (kinds) kinds.addEventListener('change', () => {
    kind = Number(kinds.value);
    all('#maps [data-kind]').forEach((element) => { element.hidden = Number(element.dataset.kind) !== kind; });
    recolor();
    maps.forEach((map) => look(map, [0, 0, width, height]));
    find();
    say(`Maps: ${kinds.selectedOptions[0].textContent}`);
  });

  // A row by its number, from the box or from the table of the worst samples.
  const place = new Map(Array.from({ length: count }, (_, i) => [rowAt(i), i]));
  const input = document.getElementById('find-row');
  const output = document.getElementById('found-row');
  const find = () => {
    const isGiven = input.value.trim() !== '';
    found = isGiven ? place.get(Number(input.value)) ?? null : null;
    ring(found);
    const isPlaced = found !== null && maps.some((map) => placesOf(map).x[found] !== NOTHING);
    const classes = found === null ? '' : data.colorings.filter((c) => c.names).map((c) => `${c.name}: ${c.names[c.of[found]] ?? '—'}`).join(', ');
    output.textContent = !isGiven ? '' : !isPlaced ? 'is not on the maps' : classes || 'is ringed';
  };
  input.addEventListener('input', find);
  all('.row').forEach((cell) => {
    const button = make('button', { type: 'button', class: 'row', title: 'Find it on the maps' }, cell.textContent);
    button.addEventListener('click', () => {
      input.value = cell.dataset.row;
      find();
      document.getElementById('maps').scrollIntoView();
      input.focus({ preventScroll: true });
    });
    cell.replaceWith(button);
  });
  addEventListener('resize', () => ring(found));
})();

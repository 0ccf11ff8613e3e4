// The user interface: reads the fields, asks the worker for results, shows and copies them, makes links, and converts files.
const $ = (id) => document.getElementById(id);
const fields = { text: $('text'), encode: $('encode-rule'), decode: $('decode-rule'), charset: $('charset'), lines: $('lines') };
const SIDES = ['encode', 'decode'];
// A pasted text from this length on becomes a file: the field shows its beginning.
const LARGE = 1_000_000;
// At most this many characters are shown.
const SHOWN = 20_000;
// Many programs cut or reject links longer than this.
const LONG_LINK = 2000, LONGEST_LINK = 100_000;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const count = (number, unit) => `${number.toLocaleString('en')} ${unit}${number === 1 ? '' : 's'}`;

let saying;
/** Announces `message` to screen readers after a moment without other announcements. */
function say(message, wait = 0) {
  clearTimeout(saying);
  saying = setTimeout(() => ($('status').textContent = message), wait);
}

function complain(message) {
  $('problem').textContent = message ?? '';
  $('problem').hidden = !message;
}

// ---- the worker

// 25 bytes of a function with an instruction of simd128: engines without vector instructions reject it.
const withVectors = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
const simd = WebAssembly.validate(withVectors);
const worker = new Worker(new URL('./worker.mjs', import.meta.url), { type: 'module' });
const waiting = new Map();
let number = 0;

worker.addEventListener('message', ({ data: { number, part, result, failure } }) => {
  const { resolve, reject, progress } = waiting.get(number);
  if (part !== undefined) return progress?.(part);
  waiting.delete(number);
  if (failure === undefined) resolve(result);
  else reject(new Error(failure));
});

/** Gives the worker a task and returns its result. `progress` is called with what it sends before. */
function ask(task, values = {}, { progress, transfer = [] } = {}) {
  return new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject, progress });
    worker.postMessage({ number, task, ...values }, transfer);
  });
}

async function start() {
  const broken = new Promise((_, reject) => worker.addEventListener('error', (event) => reject(new Error(event.message ?? 'the worker did not start'))));
  const response = await fetch(simd ? 'simdpct/simdpct.simd128.wasm' : 'simdpct/simdpct.wasm');
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  const module = await WebAssembly.compile(await response.arrayBuffer());
  await Promise.race([ask('start', { module }), broken]);
}

// ---- the text

/** The size of a large text, which is in the worker and not in the field. */
let large;
let undo;

/** Replaces the text. Large texts go to the worker, and the field shows their beginning. */
function setText(text) {
  if (text.length < LARGE) {
    large = undefined;
    fields.text.value = text;
  } else {
    large = text.length;
    fields.text.value = text.slice(0, SHOWN).replace(/[\ud800-\udbff]$/, '');
    const bytes = text.isWellFormed?.() ?? true ? new TextEncoder().encode(text) : undefined;
    ask('text', { text: bytes ?? text }, { transfer: bytes ? [bytes.buffer] : [] });
  }
  fields.text.readOnly = large !== undefined;
  $('large').hidden = large === undefined;
  $('large').textContent = large === undefined ? '' : `A text of ${count(large, 'character')}. The field shows the first ${SHOWN.toLocaleString('en')}; the results are of all of it. Clear it to type again.`;
  changed();
}

function pasted(event) {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  const { target } = event;
  const elsewhere = target !== fields.text && !target.closest?.('input, textarea, [contenteditable]');
  if (text === '' || (!elsewhere && target !== fields.text)) return;
  const { value, selectionStart, selectionEnd } = fields.text;
  if (elsewhere || large !== undefined) {
    event.preventDefault();
    setText(text.replace(/\r\n?/g, '\n'));
    fields.text.focus();
  } else if (value.length - (selectionEnd - selectionStart) + text.length >= LARGE) {
    event.preventDefault();
    setText(value.slice(0, selectionStart) + text.replace(/\r\n?/g, '\n') + value.slice(selectionEnd));
  }
}

// ---- results

const options = () => ({ charset: fields.charset.value, lines: fields.lines.value });
/** What the page knows of each result: the rule, the value if it is short, and its length. */
const results = { encode: {}, decode: {} };

/** Makes elements of the pieces of a text, in which hidden characters are labels. */
const chipped = (pieces) => pieces.map((piece) => (typeof piece === 'string' ? piece : make('span', { class: 'chip', 'data-character': piece[1], title: `U+${piece[1].codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}` }, piece[0])));

const NAMES = { encode: 'encoded', decode: 'decoded' };

function show(side, result) {
  results[side] = result;
  const output = $(`${side}-output`), failed = result.error !== undefined;
  const empty = !failed && result.length === 0;
  output.replaceChildren(...(failed ? [result.error] : empty ? [] : chipped(result.pieces)));
  output.classList.toggle('rejected', failed);
  output.scrollTop = 0;
  const notes = [];
  if (result.more) notes.push(`The first ${SHOWN.toLocaleString('en')} of ${count(result.length, result.unit)}.`);
  if (result.note) notes.push(result.note);
  if (result.pieces?.some((piece) => typeof piece !== 'string')) notes.push('Labels mark invisible characters; Copy copies the characters.');
  if (side === 'decode' && !failed && !empty && result.unchanged && notes.length === 0) notes.push('Nothing to decode.');
  if (side === 'encode' && !failed && /%25[0-9a-f]{2}/i.test(result.value ?? '') && !/url|normal|query/.test(result.id) && /%[0-9a-f]{2}/i.test(fields.text.value)) notes.push('The text has escapes already: each % is escaped again.');
  $(`${side}-note`).textContent = notes.join(' ');
  for (const button of $(side).querySelectorAll('.actions button')) {
    button.disabled = failed || empty;
    if (button.dataset.save || button.dataset.all) button.hidden = !result.more;
  }
  const auto = fields[side].options[0], name = fields[side].querySelector(`option[value="${result.id}"]`).textContent;
  auto.textContent = fields[side].value === 'auto' ? `Automatic: ${name}` : 'Automatic';
}

/** Calls `copy` with the text, or with a promise of it, which browsers accept only while they handle a click. */
async function copy(text, button, name) {
  const before = (button.dataset.title ??= button.textContent);
  let outcome = 'Copied';
  try {
    if (typeof text === 'string') await navigator.clipboard.writeText(text);
    else if (globalThis.ClipboardItem) await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then((value) => new Blob([value], { type: 'text/plain' })) })]);
    else await navigator.clipboard.writeText(await text);
  } catch {
    outcome = 'Not allowed';
  }
  button.textContent = outcome;
  say(outcome === 'Copied' ? `Copied: ${name}` : 'The browser does not let this page copy.');
  setTimeout(() => (button.textContent = before), 1200);
}

/** The whole value of a result: a string, or a promise of it. */
const whole = (side) => results[side].value ?? ask('value', { side, id: results[side].id, options: options() });

async function save(side) {
  const blob = await ask('blob', { side, id: results[side].id, options: options() });
  const url = URL.createObjectURL(blob);
  make('a', { href: url, download: `${NAMES[side]}.txt` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  say(`Saved: ${NAMES[side]}.txt`);
}

/** Shows a whole result, in blocks that the browser lays out when they are scrolled into view. */
async function showAll(side) {
  const { chips } = await import('./convert.mjs');
  const text = await whole(side), output = $(`${side}-output`), blocks = [];
  for (let from = 0; from < text.length; ) {
    let end = Math.min(from + SHOWN, text.length);
    if (/[\ud800-\udbff]/.test(text[end - 1]) && end < text.length) end++;
    blocks.push(make('span', { class: 'block' }, ...chipped(chips(text.slice(from, end)))));
    from = end;
  }
  output.replaceChildren(...blocks);
  $(side).querySelector('[data-all]').hidden = true;
  $(`${side}-note`).textContent = `All ${count(text.length, 'character')}.`;
}

/** Copies the characters of a selection, where the page shows labels. */
function copySelection(event) {
  const selection = getSelection();
  if (selection.rangeCount === 0) return;
  const piece = selection.getRangeAt(0).cloneContents();
  const labels = piece.querySelectorAll('.chip');
  if (labels.length === 0) return;
  for (const label of labels) label.replaceWith(label.dataset.character);
  event.clipboardData.setData('text/plain', piece.textContent);
  event.preventDefault();
}

// ---- the field: marked escapes, and what is at the cursor

let marked = [];
const LEGEND = 'Put the cursor into an escape to see its character.';

function showMarks(list) {
  marked = list;
  const text = fields.text.value.slice(0, SHOWN), pieces = [];
  let from = 0;
  for (const { offset, end, kind } of list) {
    if (offset > from) pieces.push(text.slice(from, offset));
    pieces.push(make('mark', { class: kind }, text.slice(offset, end)));
    from = end;
  }
  // A line break at the end has no line in a block of text, but has one in the field.
  pieces.push(text.slice(from), '\u200b');
  $('backdrop').replaceChildren(...(list.length === 0 ? [] : pieces));
  $('backdrop').scrollTop = fields.text.scrollTop;
  describeCursor();
}

function describeCursor() {
  const { selectionStart: at } = fields.text;
  const mark = document.activeElement === fields.text ? marked.find(({ offset, end }) => offset <= at && at < end) ?? marked.find(({ end }) => at === end) : undefined;
  const words = mark?.reason ?? (marked.length > 0 ? LEGEND : '');
  $('about').classList.toggle('legend', words === LEGEND);
  if ($('about').textContent !== words) $('about').textContent = words;
}

/** Selects a place of the text and scrolls to it. */
function jump(start, end) {
  const { text } = fields;
  text.focus({ preventScroll: true });
  text.setSelectionRange(start, end);
  $('text').scrollIntoView({ block: 'nearest' });
  const mark = [...$('backdrop').children][marked.findIndex(({ offset, end: last }) => offset <= start && start < last)];
  if (mark) text.scrollTop = Math.max(0, mark.offsetTop - text.clientHeight / 2);
  describeCursor();
}

const jumper = ([start, end]) => {
  const button = make('button', { type: 'button', class: 'place', 'aria-label': `Go to ${start}` }, String(start));
  button.addEventListener('click', () => jump(start, end));
  return button;
};

const MOST_PLACES = 12;
const titleOf = ({ title, places }) => (places.length > 1 ? `${title} × ${places.length.toLocaleString('en')}` : title);
function showFindings(target, groups, shift = 0) {
  target.replaceChildren(...groups.map((group) => {
    const { kind, reason, places, charsets = [] } = group, more = places.length - MOST_PLACES;
    return make('li', {}, make('span', { class: `kind ${kind}` }, titleOf(group)),
      make('span', { class: 'reason' }, `${reason[0].toUpperCase()}${reason.slice(1)}`, ...charsets.map(charsetButton)),
      make('span', { class: 'places' }, 'at ', ...places.slice(0, MOST_PLACES).map(([start, end]) => jumper([start + shift, end + shift])), ...(more > 0 ? [` and ${more.toLocaleString('en')} more`] : [])));
  }));
}

/** Makes a button that chooses a charset. It shows a word in this charset. */
function charsetButton([charset, title, word]) {
  const button = make('button', { type: 'button', class: 'fit' }, `${title}: `, ...chipped(chipsOf(word)));
  button.addEventListener('click', () => {
    fields.charset.value = charset;
    changed();
  });
  return button;
}

function showParts(found, shift) {
  const body = $('parts').tBodies[0];
  if (found.why) {
    body.replaceChildren(make('tr', {}, make('td', { colspan: '3', class: 'empty' }, found.why)));
    $('flaws').replaceChildren();
    return;
  }
  body.replaceChildren(...found.rows.map(([title, raw, decoded]) => {
    const last = decoded === null ? make('td', { class: 'empty' }, 'piece by piece, below') : make('td', {}, ...chipped(chipsOf(decoded)));
    return make('tr', {}, make('th', { scope: 'row' }, title), make('td', {}, raw), last);
  }));
  showFindings($('flaws'), found.flaws, shift);
}

// The first results need no labels, so that the function for them is loaded later.
let chipsOf = (text) => [text];
import('./names.mjs').then(({ HIDDEN, labelOf }) => {
  const pattern = new RegExp(`(${HIDDEN.source})`, 'u');
  chipsOf = (text) => text.split(pattern).filter(Boolean).map((piece) => (pattern.test(piece) ? [labelOf(piece), piece] : piece));
});

function showDetails({ marks, findings, layers, parts, cut, shift }) {
  showMarks(marks);
  showFindings($('findings'), findings);
  $('summary').textContent = count(findings.reduce((sum, { places }) => sum + places.length, 0), 'finding');
  $('summary').hidden = findings.length === 0;
  if (findings.length === 0) $('findings').append(make('li', { class: 'quiet' }, fields.text.value === '' ? 'Nothing to check yet.' : 'No malformed or suspicious escapes.'));
  if (cut) $('findings').append(make('li', { class: 'quiet' }, `Only the first ${SHOWN.toLocaleString('en')} characters are checked.`));
  $('layers').replaceChildren();
  if (layers.length > 1) {
    $('layers').append(make('h3', {}, 'Round by round'), make('ol', { class: 'layers' }, ...layers.map((pieces) => make('li', {}, make('code', {}, ...chipped(pieces))))));
  }
  showParts(parts, shift);
}

function showRules({ kept, about, source }, decoded) {
  let rest = kept;
  const words = [];
  for (const [range, pattern, length] of [['A-Z', /[A-Z]/g, 26], ['a-z', /[a-z]/g, 26], ['0-9', /[0-9]/g, 10]]) {
    if (rest.match(pattern)?.length !== length) continue;
    words.push(range);
    rest = rest.replace(pattern, '');
  }
  words.push(rest.replace(/[^!-~]/g, ''));
  $('encode-about').title = about;
  $('encode-about').replaceChildren('Keeps ', make('code', {}, words.join(' ').trim() || 'nothing'), ...(source ? [' ', make('a', { href: source }, 'Source')] : []));
  $('decode-about').textContent = `${decoded[0].toUpperCase()}${decoded.slice(1)}`;
}

async function showOthers() {
  if (!$('others').open) return;
  if (large !== undefined) {
    for (const side of SIDES) $(`others-${side}`).replaceChildren(make('p', { class: 'quiet' }, 'A text this long is converted by one rule at a time. Choose it above.'));
    return;
  }
  const found = await ask('others', { options: options() });
  for (const side of SIDES) {
    $(`others-${side}`).replaceChildren(make('h3', {}, side === 'encode' ? 'Encoded' : 'Decoded'), ...found[side].map(({ id, error, names, pieces, more, length, note }) => {
      const button = make('button', { type: 'button', 'aria-label': `Copy: ${names[0][0]}` }, 'Copy');
      button.disabled = error !== undefined;
      button.addEventListener('click', () => copy(ask('value', { side, id, options: options() }), button, names[0][0]));
      const [[first, about], ...same] = names;
      return make('div', { class: 'row', 'data-rules': names.map(([, , rule]) => rule).join(' ') },
        make('div', { class: 'line' }, make('h4', {}, first), button),
        make('p', { class: 'quiet' }, same.length > 0 ? `The same for: ${same.map(([name]) => name).join(', ')}.` : about),
        make('code', { class: error === undefined ? 'value' : 'value rejected' }, ...(error === undefined ? chipped(pieces) : [error])),
        ...(more || note ? [make('p', { class: 'quiet' }, [more ? `The first 6,000 of ${count(length, 'character')}.` : '', note ?? ''].join(' ').trim())] : []));
    }));
  }
}

let running = false, again = false, shown = 0;
/** Converts the text. While the worker is busy, only the last change is kept. */
async function update() {
  again = true;
  if (running) return;
  running = true;
  try {
    while (again) {
      again = false;
      const text = fields.text.value;
      if (large === undefined) ask('text', { text });
      const details = await ask('convert', { encode: fields.encode.value, decode: fields.decode.value, options: options() }, {
        progress: (part) => {
          $('size').textContent = large !== undefined ? `${count(large, 'character')}${part.bytes === undefined ? '' : `, ${count(part.bytes, 'byte')} in UTF-8`}` : text === '' ? '' : count(text.length, 'character');
          for (const side of SIDES) show(side, part[side]);
          showRules(part.keeps, part.about);
          complain(/surrogate/.test(part.encode.error) ? 'The text has half of a character (a lone surrogate), which cannot be encoded.' : undefined);
        },
      });
      if (again) continue;
      showDetails(details);
      await showOthers();
      const bad = details.findings.find(({ kind }) => kind === 'malformed')?.places.length ?? 0;
      if (text !== '') say(`Converted. ${count(bad, 'malformed escape')}. Encoded: ${$('encode-output').textContent.slice(0, 200)}`, 800);
    }
    // Counts what has been shown, for tests.
    document.documentElement.dataset.shown = ++shown;
  } finally {
    running = false;
  }
}

function changed() {
  if ($('clear').dataset.undo && fields.text.value !== '') offerUndo(undefined);
  keepLink();
  return update();
}

function offerUndo(text) {
  undo = text;
  $('clear').textContent = text === undefined ? 'Clear' : 'Undo clear';
  if (text === undefined) delete $('clear').dataset.undo;
  else $('clear').dataset.undo = 'true';
}

async function clear() {
  if ($('clear').dataset.undo) {
    const text = undo;
    offerUndo(undefined);
    setText(text);
  } else if (fields.text.value !== '') {
    // The field has only the beginning of a large text.
    offerUndo(large === undefined ? fields.text.value : await ask('source'));
    setText('');
  }
  fields.text.focus();
}

// ---- links: the fields are form data after the #

const LINKED = ['encode', 'decode', 'charset', 'lines'];
const DEFAULTS = { encode: 'auto', decode: 'auto', charset: 'utf-8', lines: 'lf' };

async function readLink() {
  const { pairs } = await ask('read', { hash: location.hash.slice(1) });
  const given = new Map(pairs);
  // Links of earlier versions name a set.
  if (given.has('set')) given.set('encode', `set:${given.get('set')}`);
  for (const name of LINKED) {
    const value = given.get(name);
    if ([...fields[name].options].some((option) => option.value === value)) fields[name].value = value;
  }
  if (given.has('text')) setText(given.get('text'));
}

const hashOf = () => ask('link', { pairs: [...LINKED.map((name) => [name, fields[name].value]).filter(([name, value]) => value !== DEFAULTS[name]), ['text', fields.text.value]] });
const hasLink = () => /[#&]text=/.test(location.hash);

let keeping;
/** If the address has a text, it follows the field, so that a reload loses nothing. Otherwise nothing is written to the history. */
function keepLink() {
  if (!hasLink()) return;
  clearTimeout(keeping);
  keeping = setTimeout(async () => {
    const hash = large === undefined && fields.text.value !== '' ? await hashOf().catch(() => '') : '';
    history.replaceState(null, '', hash === '' || hash.length > LONGEST_LINK ? location.pathname + location.search : `#${hash}`);
  }, 300);
}

async function share() {
  if (large !== undefined) return complain('The text is too long for a link. Save the result, and send it as a file.');
  let hash;
  try {
    hash = await hashOf();
  } catch {
    return complain('The text has half of a character (a lone surrogate), so there is no link.');
  }
  const { length } = `${location.origin}${location.pathname}#${hash}`;
  if (length > LONGEST_LINK) return complain(`The link would have ${count(length, 'character')}, which is too long. Save the result, and send it as a file.`);
  history.replaceState(null, '', `#${hash}`);
  // The text or a rule may have changed while the worker made the link, when the address had none to keep.
  keepLink();
  await copy(location.href, $('share'), 'the link');
  if (length > LONG_LINK) complain(`The link is copied. It has ${count(length, 'character')}, and some programs cut links after ${LONG_LINK.toLocaleString('en')}.`);
}

// ---- reference

/** Opens the reference. Some browsers do so by themselves where the address names a place in it. */
function openReference(place) {
  if (!place) return;
  $('reference').open = true;
  place.scrollIntoView();
}

function search() {
  const wanted = $('search').value.trim(), low = wanted.toLowerCase();
  let found = 0;
  for (const table of $('tables').querySelectorAll('table')) {
    for (const row of table.tBodies[0].rows) {
      const [character, name, decimal, hex, , , , , utf8, latin] = [...row.cells].map((cell) => cell.textContent);
      // A single character is searched in the first column only.
      row.hidden = wanted !== '' && !([...wanted].length === 1 ? character === wanted :
        [character, name, decimal, hex, ...row.querySelectorAll('button')].some((cell) => (cell.textContent ?? cell).toLowerCase().includes(low)) || utf8 === wanted || latin === wanted);
      found += !row.hidden;
    }
    const none = [...table.tBodies[0].rows].every((row) => row.hidden);
    table.hidden = none;
    table.previousElementSibling.hidden = none;
  }
  $('shown').textContent = wanted === '' ? '' : `${count(found, 'character')} found`;
}

// ---- files

let chosen = [];

async function convertFile(file, key, item) {
  const work = $('work').value, direction = NAMES[work.slice(0, 6)] ?? 'converted';
  const bar = make('progress', { max: '1', value: '0', 'aria-label': `Converting ${file.name}` });
  const amount = make('span', { class: 'quiet amount' });
  const stop = make('button', { type: 'button' }, 'Stop');
  stop.addEventListener('click', () => ask('stop', { key }));
  item.replaceChildren(bar, amount, stop);
  const tell = ({ read, written }) => {
    bar.value = file.size === 0 ? 1 : read / file.size;
    amount.textContent = `${file.name}: ${count(read, 'byte')} read, ${count(written, 'byte')} written`;
  };
  tell({ read: 0, written: 0 });
  const { blob, error, stopped, ...sizes } = await ask('file', { file, work, key }, { progress: tell });
  tell(sizes);
  stop.remove();
  if (blob === undefined) {
    amount.textContent = stopped ? `${file.name}: stopped` : `${file.name}: ${error}`;
    bar.remove();
    return say(amount.textContent);
  }
  const name = `${file.name}.${direction}`;
  item.append(make('a', { class: 'button', href: URL.createObjectURL(blob), download: name }, `Save ${name}`));
  say(`Converted ${file.name}, ${count(sizes.written, 'byte')}. It can be saved.`);
}

let jobs = 0;
async function convertFiles(files) {
  chosen = [...files];
  for (const item of $('jobs').children) {
    ask('stop', { key: Number(item.dataset.key) });
    const link = item.querySelector('a');
    if (link) URL.revokeObjectURL(link.href);
  }
  const items = chosen.map((file) => make('li', { 'data-key': String(++jobs) }, make('span', { class: 'quiet' }, `${file.name}: waiting`)));
  $('jobs').replaceChildren(...items);
  // One after the other: the worker has one buffer.
  for (const [i, item] of items.entries()) if (item.isConnected) await convertFile(chosen[i], Number(item.dataset.key), item);
}

function listenForFiles() {
  $('file').addEventListener('change', () => $('file').files.length > 0 && convertFiles($('file').files));
  $('work').addEventListener('change', () => chosen.length > 0 && convertFiles(chosen));
  const hasFile = (event) => event.dataTransfer?.types.includes('Files');
  addEventListener('dragover', (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    $('drop').textContent = `Drop files to convert them. ${$('work').selectedOptions[0].textContent}.`;
    $('drop').hidden = false;
  });
  addEventListener('dragleave', (event) => event.relatedTarget === null && ($('drop').hidden = true));
  addEventListener('drop', (event) => {
    $('drop').hidden = true;
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    $('files').scrollIntoView({ block: 'center' });
    convertFiles(event.dataTransfer.files);
  });
}

// ---- start

try {
  await start();
} catch (error) {
  complain(`The converter could not be loaded: ${error.message}`);
  document.documentElement.dataset.started = '';
  throw error;
}
document.documentElement.dataset.started = '';
await readLink();
await update();
listenForFiles();
$('engine').textContent = simd ? ' with vector instructions' : '';
fields.text.addEventListener('input', () => (large === undefined && fields.text.value.length >= LARGE ? setText(fields.text.value) : changed()));
fields.text.addEventListener('scroll', () => ($('backdrop').scrollTop = fields.text.scrollTop), { passive: true });
document.addEventListener('selectionchange', describeCursor);
for (const name of LINKED) fields[name].addEventListener('change', changed);
for (const element of document.querySelectorAll('[data-copy]')) element.addEventListener('click', () => copy(whole(element.dataset.copy), element, NAMES[element.dataset.copy]));
for (const element of document.querySelectorAll('[data-save]')) element.addEventListener('click', () => save(element.dataset.save));
for (const element of document.querySelectorAll('[data-all]')) element.addEventListener('click', () => showAll(element.dataset.all));
for (const element of document.querySelectorAll('[data-use]')) {
  element.addEventListener('click', async () => {
    for (const side of SIDES) fields[side].value = 'auto';
    setText(await whole(element.dataset.use));
    fields.text.focus();
  });
}
$('share').addEventListener('click', share);
$('clear').addEventListener('click', clear);
$('others').addEventListener('toggle', showOthers);
$('search').addEventListener('input', search);
$('summary').addEventListener('click', () => $('findings-title').scrollIntoView());
$('to-reference').addEventListener('click', (event) => {
  // The address keeps its text.
  event.preventDefault();
  openReference($('tables'));
});
addEventListener('hashchange', () => openReference($('tables').querySelector(':target')));
openReference($('tables').querySelector(':target'));
$('tables').addEventListener('click', ({ target }) => target.localName === 'button' && copy(target.textContent, target, target.textContent));
document.addEventListener('paste', pasted);
document.addEventListener('copy', copySelection);
document.documentElement.dataset.ready = '';
// The page works without it, for example on a host without HTTPS.
navigator.serviceWorker?.register('sw.js').catch(() => {});

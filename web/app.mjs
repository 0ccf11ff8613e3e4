// The user interface: reads the fields, shows the results of convert.mjs, copies them, makes links, and converts files.
import { CHARSETS, DECODE, ENCODE, asciiTable, convert, latinTable, layers, marks, parts } from './convert.mjs';

const $ = (id) => document.getElementById(id);
const codec = await import('./simdpct/index.mjs').catch((error) => {
  $('problem').textContent = `The converter could not be loaded: ${error.message}`;
  $('problem').hidden = false;
  throw error;
});
const fields = { text: $('text'), set: $('set'), charset: $('charset') };
// Only this many characters are marked, because each mark is an element.
const MARKED = 20_000;
// Longer texts are converted when the user pauses typing.
const AT_ONCE = 20_000;
// Conversions whose escapes are always UTF-8, whatever charset is selected.
const UTF8_ONLY = ['encode-url', 'repair', 'decode-url', 'stable'];
const DEFAULT_SET = 'rfc3986-unreserved';

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

let saying;
/** Announces `message` to screen readers after a moment without other announcements. */
function say(message, wait = 0) {
  clearTimeout(saying);
  saying = setTimeout(() => ($('status').textContent = message), wait);
}

async function copy(text, button, what) {
  let copied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copied = false;
  }
  const before = button.dataset.title ?? button.textContent;
  button.dataset.title = before;
  button.textContent = copied ? 'Copied' : 'Not allowed';
  say(copied ? `Copied: ${what}` : 'The browser does not let this page copy.');
  setTimeout(() => (button.textContent = before), 1200);
}

// ---- options

const GROUPS = { rfc3986: 'RFC 3986', whatwg: 'URL Standard (browsers)', ecma: 'JavaScript', python: 'Python', java: 'Java', rfc2396: 'RFC 2396 (obsolete)', rfc1738: 'RFC 1738 (obsolete)' };

function fillChoices() {
  const groups = new Map();
  for (const name of codec.sets) {
    if (codec.describeSet(name).kind !== 'policy') continue;
    const title = GROUPS[name.split('-')[0]] ?? 'Plain';
    if (!groups.has(title)) groups.set(title, make('optgroup', { label: title }));
    groups.get(title).append(make('option', { value: name }, name));
  }
  for (const title of [...Object.values(GROUPS), 'Plain']) if (groups.has(title)) fields.set.append(groups.get(title));
  fields.set.value = DEFAULT_SET;
  for (const [name, title] of CHARSETS) fields.charset.append(make('option', { value: name }, title));
}

/** Describes a set, with letters and digits as ranges. */
function spell(keeps) {
  const words = [];
  let rest = keeps;
  for (const [range, pattern, length] of [['A-Z', /[A-Z]/g, 26], ['a-z', /[a-z]/g, 26], ['0-9', /[0-9]/g, 10]]) {
    if (rest.match(pattern)?.length !== length) continue;
    words.push(range);
    rest = rest.replace(pattern, '');
  }
  words.push(...[...rest].map((sign) => (sign === ' ' ? 'space' : sign)));
  return words.join(' ') || 'nothing';
}

function showSet() {
  const { keeps, description, source } = codec.describeSet(fields.set.value);
  const plain = description.replaceAll('`', '');
  $('keeps').replaceChildren(
    make('p', {}, 'Stays: ', make('code', {}, spell(keeps)), `. ${keeps.length === 0 ? 'Everything' : 'All else'} is escaped.`),
    make('p', {}, `${plain} `, make('a', { href: source }, 'Specification')),
  );
  for (const row of $('ascii').tBodies[0].rows) {
    const stays = keeps.includes(String.fromCharCode(Number(row.dataset.code)));
    row.cells[4].textContent = stays ? 'yes' : '';
  }
}

// ---- results

function addResults(target, list) {
  for (const [id, title, what] of list) {
    const button = make('button', { type: 'button', 'aria-label': `Copy: ${target.id}, ${title}` }, 'Copy');
    const output = make('output', { id, for: 'text', tabindex: '0', 'aria-live': 'off', 'aria-label': `${target.id}, ${title}` });
    button.addEventListener('click', () => copy(output.textContent, button, title));
    target.append(make('div', { class: 'result' },
      make('header', {}, make('h3', {}, title), make('p', { class: 'quiet' }, what), button),
      output, make('p', { class: 'note quiet', id: `${id}-note`, hidden: '' })));
  }
}

function show(id, { value, error, note }) {
  const output = $(id);
  output.textContent = error ?? value;
  output.classList.toggle('rejected', error !== undefined);
  output.parentElement.querySelector('button').disabled = error !== undefined;
  $(`${id}-note`).textContent = note ?? '';
  $(`${id}-note`).hidden = !note;
}

function showLayers(text) {
  const all = layers(codec, text);
  $('stable').parentElement.querySelector('.layers')?.remove();
  if (all.length < 2) return;
  const list = make('ol', { class: 'layers' }, ...all.map((layer) => make('li', {}, make('code', {}, layer.slice(0, 2000)))));
  $('stable').parentElement.append(list);
}

const finding = (kind, title, ...words) => make('li', {}, make('span', { class: `kind ${kind}` }, title), make('span', {}, ...words));
const some = (list, most, more) => [...list.slice(0, most), ...(list.length > most ? [make('li', { class: 'quiet' }, `and ${list.length - most} more`)] : [])];

function showEscapes(text) {
  const start = text.slice(0, MARKED);
  const pieces = marks(codec, start).map(({ text: piece, kind, reason }) =>
    kind === undefined ? document.createTextNode(piece) : make('mark', { class: kind, title: reason }, piece));
  if (text.length > MARKED) pieces.push(`… (${text.length - MARKED} more characters)`);
  $('marked').replaceChildren(...pieces);
  const found = codec.check(text);
  const items = found.map(({ kind, offset, reason }) => finding(kind, kind, `at ${offset}: ${reason}`));
  $('findings').replaceChildren(...some(items, 50));
  return found;
}

function showParts(text) {
  const body = $('parts').tBodies[0];
  const url = text.trim();
  if (url === '' || url.length > MARKED || /[\r\n]/.test(url)) {
    const why = url === '' ? 'Type a URL above.' : /[\r\n]/.test(url) ? 'One URL at a time: the text has several lines.' : 'Too long to show.';
    body.replaceChildren(make('tr', {}, make('td', { colspan: '3', class: 'empty' }, why)));
    $('flaws').replaceChildren();
    return;
  }
  const { rows, flaws } = parts(codec, url);
  body.replaceChildren(...rows.map(([title, raw, decoded]) => {
    const last = decoded === null ? make('td', { class: 'empty' }, 'piece by piece, below') : make('td', {}, decoded);
    return make('tr', {}, make('th', { scope: 'row' }, title), make('td', {}, raw), last);
  }));
  $('flaws').replaceChildren(...some(flaws.map(({ kind, offset, component, reason }) =>
    finding(kind, component, `at ${offset}: ${reason}`)), 20));
}

const count = (number, unit) => `${number.toLocaleString('en')} ${unit}${number === 1 ? '' : 's'}`;

function update() {
  const text = fields.text.value;
  const options = { set: fields.set.value, charset: fields.charset.value };
  $('size').textContent = `${count(text.length, 'character')}, ${count(new TextEncoder().encode(text).length, 'byte')} in UTF-8`;
  $('problem').hidden = text.isWellFormed?.() ?? true;
  $('problem').textContent = 'The text has a lone surrogate (half of a character), which cannot be encoded.';
  for (const [id, , , run] of [...ENCODE, ...DECODE]) {
    const result = convert(codec, run, text, options);
    if (options.charset !== 'utf-8' && UTF8_ONLY.includes(id)) result.note = ['in UTF-8, whatever the charset', result.note].filter(Boolean).join('; ');
    show(id, result);
  }
  try {
    showLayers(text);
    const found = showEscapes(text);
    showParts(text);
    const bad = found.filter(({ kind }) => kind === 'malformed').length, double = found.filter(({ kind }) => kind === 'double').length;
    say(`Converted. ${count(bad, 'malformed escape')}, ${double} escaped twice. Encoded: ${$('encode').textContent.slice(0, 200)}`, 800);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    for (const id of ['marked', 'findings', 'flaws']) $(id).replaceChildren();
  }
}

let waiting;
function changed() {
  clearTimeout(waiting);
  if (fields.text.value.length <= AT_ONCE) update();
  else waiting = setTimeout(update, 150);
}

// ---- links: the fields are form data after the #

function readLink() {
  const given = new Map(location.hash.slice(1).split('&').filter(Boolean).map((pair) => {
    const [name, ...value] = pair.split('=');
    return [name, codec.decodeForm(value.join('='), { lossy: true })];
  }));
  if (given.size === 0) return;
  if (given.has('text')) fields.text.value = given.get('text');
  if (codec.sets.includes(given.get('set'))) fields.set.value = given.get('set');
  if (CHARSETS.some(([name]) => name === given.get('charset'))) fields.charset.value = given.get('charset');
}

function link() {
  const pairs = [['set', fields.set.value], ['charset', fields.charset.value], ['text', fields.text.value]];
  return `#${pairs.map(([name, value]) => `${name}=${codec.encodeForm(value)}`).join('&')}`;
}

async function share() {
  let hash;
  try {
    hash = link();
  } catch {
    return say('The text has a lone surrogate, so there is no link.');
  }
  history.replaceState(null, '', hash);
  await copy(location.href, $('share'), 'the link');
}

// ---- reference

function fillTables() {
  const row = (data, ...cells) => {
    const [head, ...rest] = cells;
    const element = make('tr', {}, make('th', { scope: 'row' }, head), ...rest.map(([text, code]) => make('td', code ? { class: 'code' } : {}, text)));
    element.dataset.code = data.code;
    return element;
  };
  const hex = (code) => code.toString(16).toUpperCase().padStart(2, '0');
  // Control characters are shown as their symbols (U+2400 and following).
  const picture = (code) => make('span', { class: 'picture' }, String.fromCodePoint(code === 0x7f ? 0x2421 : 0x2400 + code));
  const words = { '\xa0': 'no-break space', '\xad': 'soft hyphen' };
  const visible = (character) =>
    /[\p{C}\p{Z}]/u.test(character) ? make('span', { class: 'picture' }, words[character] ?? 'control') : character;
  $('ascii').tBodies[0].append(...asciiTable(codec).map((entry) =>
    row(entry, entry.code < 0x21 || entry.code === 0x7f ? picture(entry.code) : visible(entry.character), [`${entry.code}, 0x${hex(entry.code)}`], [entry.escape, true], [entry.name], [''])));
  $('latin').tBodies[0].append(...latinTable(codec).map((entry) =>
    row(entry, visible(entry.character), [entry.unicode], [entry.latin, true], [entry.utf8, true])));
}

function search() {
  const wanted = $('search').value.trim();
  let shown = 0;
  for (const row of [...$('ascii').tBodies[0].rows, ...$('latin').tBodies[0].rows]) {
    const cells = [...row.cells].map((cell) => cell.textContent);
    // A single character is searched in the character column only, longer text in all columns.
    const found = wanted === '' ||
      ([...wanted].length === 1 ? cells[0] === wanted : cells.some((cell) => cell.toLowerCase().includes(wanted.toLowerCase())));
    row.hidden = !found;
    shown += found;
  }
  $('shown').textContent = wanted === '' ? '' : `${count(shown, 'character')} found`;
  if (wanted !== '') say(`${count(shown, 'character')} found`, 500);
}

// ---- files

let stop;
async function convertFile(file) {
  stop?.abort();
  const abort = (stop = new AbortController());
  const work = $('work').value;
  const stream = work === 'decode' ? codec.decodeStream() : work === 'encode' ? codec.encodeStream({ set: fields.set.value }) : codec.normalizeStream();
  const save = $('save');
  if (save.href) URL.revokeObjectURL(save.href);
  save.hidden = true;
  $('progress').hidden = false;
  $('stop').hidden = false;
  say(`Converting ${file.name}`);
  let read = 0, written = 0, painted = 0;
  const amount = () => {
    $('bar').value = file.size === 0 ? 1 : read / file.size;
    $('amount').textContent = `${file.name}: ${count(read, 'byte')} read, ${count(written, 'byte')} written`;
  };
  const counted = new TransformStream({
    async transform(chunk, controller) {
      read += chunk.length;
      controller.enqueue(chunk);
      if (performance.now() - painted < 50) return;
      // Lets the browser handle events.
      painted = performance.now();
      amount();
      await new Promise((resolve) => setTimeout(resolve));
    },
  });
  try {
    // The browser may store the parts of a Blob on disk.
    const pieces = [];
    const reader = file.stream().pipeThrough(counted, { signal: abort.signal }).pipeThrough(stream).getReader();
    let group = [], size = 0;
    const close = () => { pieces.push(new Blob(group)); group = []; size = 0; };
    for (let next; !(next = await reader.read()).done; ) {
      abort.signal.throwIfAborted();
      group.push(next.value);
      size += next.value.length;
      written += next.value.length;
      if (size > 1 << 24) close();
    }
    close();
    amount();
    save.href = URL.createObjectURL(new Blob(pieces, { type: 'application/octet-stream' }));
    save.download = `${file.name}.${work}d`.replace('normalized', 'normal');
    save.textContent = `Save ${save.download}`;
    save.hidden = false;
    say(`Converted ${file.name}, ${count(written, 'byte')}. It can be saved.`);
  } catch (error) {
    $('amount').textContent = abort.signal.aborted ? `${file.name}: stopped` : `${file.name}: ${error.message}`;
    say($('amount').textContent);
  } finally {
    if (stop === abort) $('stop').hidden = true;
  }
}

function listenForFiles() {
  $('file').addEventListener('change', () => $('file').files[0] && convertFile($('file').files[0]));
  $('work').addEventListener('change', () => $('file').files[0] && convertFile($('file').files[0]));
  $('stop').addEventListener('click', () => stop?.abort());
  const hasFile = (event) => event.dataTransfer?.types.includes('Files');
  addEventListener('dragover', (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    $('drop').hidden = false;
  });
  addEventListener('dragleave', (event) => event.relatedTarget === null && ($('drop').hidden = true));
  addEventListener('drop', (event) => {
    $('drop').hidden = true;
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    $('files').scrollIntoView({ block: 'center' });
    convertFile(file);
  });
}

// ---- start

fillChoices();
addResults($('encoded'), ENCODE);
addResults($('decoded'), DECODE);
fillTables();
readLink();
showSet();
update();
listenForFiles();
$('engine').textContent = codec.simd ? ' with vector instructions' : '';
fields.text.addEventListener('input', changed);
fields.set.addEventListener('change', () => { showSet(); update(); });
fields.charset.addEventListener('change', update);
$('share').addEventListener('click', share);
$('clear').addEventListener('click', () => {
  fields.text.value = '';
  update();
  fields.text.focus();
});
$('search').addEventListener('input', search);
addEventListener('hashchange', () => { readLink(); showSet(); update(); });
document.documentElement.dataset.ready = 'yes';

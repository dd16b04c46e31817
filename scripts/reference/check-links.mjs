// Links between pages: the file is there, the heading is there, every page of docs/ is found from docs/README.md, and each guide ends with where to go next.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The page from which all others are found. */
const FIRST = 'docs/README.md';
/** Linked as a folder: the names of the files are their titles. */
const RECORDS = 'docs/decisions/';

/** What is wrong, one sentence each; `pages` are paths of Markdown files, `read` returns the text of one. */
export function findWrongLinks(pages, read = (path) => readFileSync(path, 'utf8')) {
  const links = new Map(pages.map((page) => [page, linksOf(page, read(page))]));
  return [
    ...[...links].flatMap(([page, own]) => own.flatMap((link) => wrongLink(page, link, { pages, read }))),
    ...unreachable(pages, links),
    ...pages
      .filter((page) => isGuide(page) && !hasNext(read(page)))
      .map((page) => `${page} does not end with "Next: [page](page.md)"`),
  ];
}

function wrongLink(page, { target, path, anchor }, { pages, read }) {
  if (path !== page && !pages.includes(path) && !existsSync(path)) return [`${page} links to ${target}, which is not there`];
  if (anchor === undefined || !path.endsWith('.md')) return [];
  return anchorsOf(read(path)).has(anchor) ? [] : [`${page} links to ${target}, and ${path} has no such heading`];
}

/** Links to files of the repository, without those in code. */
function linksOf(page, text) {
  const prose = withoutCode(text).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target]) => {
    const [file = '', anchor] = target.split('#');
    return { target, path: file === '' ? page : join(dirname(page), file), anchor };
  });
}

/** As GitHub makes them of headings; the second one of a name ends in `-1`. */
function anchorsOf(text) {
  const seen = new Map();
  const anchors = new Set();
  for (const [, heading] of withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}

function unreachable(pages, links) {
  const found = new Set([FIRST]);
  for (const page of found) {
    for (const { path } of links.get(page) ?? []) if (links.has(path)) found.add(path);
  }
  return pages
    .filter((page) => page.startsWith('docs/') && !page.startsWith(RECORDS) && !found.has(page))
    .map((page) => `${page} is not found from ${FIRST}; link it there, or from a page that is`);
}

/** A page that a person wrote to be read in order. */
function isGuide(page) {
  return /^docs\/[\w-]+\.md$/.test(page) && page !== FIRST;
}

function hasNext(text) {
  const last = text.trim().split('\n\n').at(-1) ?? '';
  return last.startsWith('Next: [');
}

function withoutCode(text) {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, '');
}

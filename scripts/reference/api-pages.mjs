// The pages of docs/reference/api: what each library exports, with its doc comments, from the declarations that were built.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages } from '../repository.mjs';
import { exportsOf } from './declarations.mjs';

/** A longer declaration is that of a schema: its fields are in the reference of the fields, and in the editor. */
const MOST_LINES = 60;

/** Where a tag begins: on a line of its own, or after the text. */
const TAG = /\s*(?=@(?:param|returns|throws|remarks|see|typeParam)\b)/;

/** Name, title and text of each page. */
export const apiPages = publishedPackages()
  .filter(({ folder, manifest }) => entryPointsOf(folder, manifest).length > 0)
  .map(({ folder, manifest }) => [`api/${folder.split('/').at(-1)}`, manifest.name, apiPage(folder, manifest)]);

/** The page that lists the pages. */
export const apiIndex = [
  'api/README',
  'API of the libraries',
  `Generated from the doc comments of each package. Each page lists the entry points of a package and what they export. How to use a package is in its
README.

| package | exports | what it is |
| --- | --- | --- |
${publishedPackages()
  .filter(({ folder, manifest }) => entryPointsOf(folder, manifest).length > 0)
  .map(
    ({ folder, manifest }) =>
      `| [\`${manifest.name}\`](${folder.split('/').at(-1)}.md) | ${countOf(folder, manifest)} | ${manifest.description} |`,
  )
  .join('\n')}

\`vmdhcp-agent\`, \`vmdhcp-controller\` and \`kubectl-vmdhcp\` are programs and export nothing: [flags](../flags.md).`,
];

/** One sentence for each export without a doc comment: an editor and its page would explain nothing. */
export function findUndocumented() {
  return publishedPackages().flatMap(({ folder, manifest }) =>
    entryPointsOf(folder, manifest)
      .flatMap(([, path]) => exportsOf(path))
      .filter(({ from, doc }) => from === undefined && doc === '')
      .map(({ name }) => `${folder} exports ${name} without a doc comment; write what it is or what it returns`),
  );
}

/** Entry points with declarations, as \`[subpath, path of the declarations]\`. */
function entryPointsOf(folder, { exports }) {
  return Object.entries(exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([subpath, { types }]) => [subpath, join(folder, types)])
    .filter(([, path]) => existsSync(path));
}

function countOf(folder, manifest) {
  return entryPointsOf(folder, manifest).reduce((sum, [, path]) => sum + exportsOf(path).length, 0);
}

function apiPage(folder, manifest) {
  const sections = entryPointsOf(folder, manifest).map(([subpath, path]) => {
    const specifier = `${manifest.name}${subpath.slice(1)}`;
    const all = exportsOf(path);
    const own = all.filter(({ from }) => from === undefined);
    const others = all.filter(({ from }) => from !== undefined).map(({ name, from }) => `- \`${name}\`, from \`${from}\``);
    const index = own.map(({ name, kind, doc }) => `| \`${name}\` | ${kind} | ${cell(firstSentence(doc))} |`);
    return [
      `## ${specifier}`,
      packageComment(path),
      index.length === 0 ? '' : `| export | kind | what it is |\n| --- | --- | --- |\n${index.join('\n')}`,
      others.length === 0 ? '' : `Also exported:\n\n${others.join('\n')}`,
      ...own.map(entry),
    ].filter((part) => part !== '');
  });
  return `${manifest.description} Examples: [README](../../../${folder}/README.md).\n\n${sections.flat().join('\n\n')}

Next: [API of the libraries](README.md).`;
}

function entry({ name, doc, code }) {
  const lines = withoutPrivate(code).split('\n');
  const shown = lines.length <= MOST_LINES ? lines : [...lines.slice(0, MOST_LINES), '// ...'];
  return [`### ${name}`, describe(doc), `\`\`\`ts\n${shown.join('\n')}\n\`\`\``].filter((part) => part !== '').join('\n\n');
}

/** Declarations name private members without their types that users cannot use. */
function withoutPrivate(code) {
  return code.replace(/^ +(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n +)?private .*\n/gm, '').replace(/^ +#private;\n/gm, '');
}

/** Doc comment as Markdown: the text, then one line for each tag. */
function describe(doc) {
  const [text = '', ...tags] = doc.split(TAG);
  const rest = tags.map(
    (tag) =>
      `- ${tag
        .replace(/^@param (\w+)(?: -)? ?/, '`$1`: ')
        .replace(/^@(\w+) ?/, '*$1*: ')
        .replaceAll('\n', ' ')}`,
  );
  return [text.replaceAll(/\{@link (\w+)\}/g, '`$1`').trim(), rest.join('\n')].filter((part) => part !== '').join('\n\n');
}

function firstSentence(doc) {
  const [text = ''] = doc.split(TAG);
  const [paragraph = ''] = text.replaceAll(/\{@link (\w+)\}/g, '`$1`').split('\n\n');
  const joined = paragraph.replaceAll('\n', ' ').trim();
  return /^.*?[.:](?= [A-Z]|$)/.exec(joined)?.[0] ?? joined;
}

/** The comment of the whole entry point, marked `@packageDocumentation`. */
function packageComment(path) {
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(path, 'utf8')) ?? [];
  if (!comment.includes('@packageDocumentation')) return '';
  return comment
    .replaceAll(/^\s*\* ?/gm, '')
    .replace('@packageDocumentation', '')
    .trim();
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}

/** The files of the page, read once. A request selects one of them, and never reads a path from the file system. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** A file of the page, as it is sent. */
export interface Asset {
  readonly body: Buffer;
  /** The same, compressed by gzip; absent if that does not make it smaller. */
  readonly zipped?: Buffer;
  readonly contentType: string;
  /** The hash of the content, in quotation marks. */
  readonly etag: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** By path: `/`, `/assets/style.css`, `/assets/browser/main.js`. @throws Error if the package is incomplete. */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const page = new URL('../../page/', import.meta.url);
  const dist = new URL('../../dist/', import.meta.url);
  const files = [...filesIn(page, ''), ...filesIn(dist, 'browser/'), ...filesIn(dist, 'model/')];
  const assets = new Map(files.flatMap(({ path, url }) => toAsset(path, url)));
  const index = assets.get('/assets/index.html');
  if (index === undefined) throw new Error('the files of the page are missing: page/index.html');
  assets.delete('/assets/index.html');
  return assets.set('/', index);
}

interface AssetFile {
  readonly path: string;
  readonly url: URL;
}

function filesIn(root: URL, folder: string): readonly AssetFile[] {
  return readdirSync(new URL(folder === '' ? '.' : folder, root), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? filesIn(root, `${folder}${entry.name}/`)
      : [{ path: `/assets/${folder}${entry.name}`, url: new URL(`${folder}${entry.name}`, root) }],
  );
}

function toAsset(path: string, url: URL): readonly (readonly [string, Asset])[] {
  const contentType = CONTENT_TYPES[/\.[a-z]+$/.exec(path)?.[0] ?? ''];
  // Type declarations and build information do not belong to the page.
  if (contentType === undefined) return [];
  const file = readFileSync(url);
  const body = path.endsWith('.js') ? withoutIndentation(file) : file;
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const zipped = gzipSync(body);
  return [[path, { body, contentType, etag, ...(zipped.length < body.length && { zipped }) }]];
}

/** Removes indentation, a seventh of the script, and comments, also those that name source maps, which are not served. A test ensures that no text of the page spans several lines. */
function withoutIndentation(file: Buffer): Buffer {
  const text = file.toString('utf8').replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n|^\/\/# sourceMappingURL=.*$/gm, '');
  return Buffer.from(text.replaceAll(/^ +/gm, ''));
}

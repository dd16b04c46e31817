import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** All modules that a module of the page loads, directly or indirectly, as paths below `src`. */
function modulesFrom(path: string, found: Set<string>): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  const text = readFileSync(new URL(`../${path}.ts`, import.meta.url), 'utf8');
  for (const [, names = '', from = ''] of text.matchAll(/^import (?!type )([^;]*?) from '(\.[^']+)\.js';$/gm)) {
    const isTypes = /^\{\s*(type \w+,?\s*)+\}$/.test(names);
    if (!isTypes) modulesFrom(new URL(from, `file:///${path}`).pathname.slice(1), found);
  }
  return found;
}

it('index.html names every module, so that a browser asks for all of them at once instead of one level after the other', () => {
  const html = readFileSync(new URL('../../page/index.html', import.meta.url), 'utf8');
  const preloaded = [...html.matchAll(/<link rel="modulepreload" href="assets\/([^"]+)\.js" \/>/g)].map(([, path]) => path);
  const needed = [...modulesFrom('browser/main', new Set())].filter((path) => path !== 'browser/main');
  expect(preloaded).toEqual(needed.toSorted());
});

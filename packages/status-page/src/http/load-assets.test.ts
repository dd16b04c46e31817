import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadAssets } from './load-assets.js';

const source = new URL('../', import.meta.url);

function filesIn(folder: string): readonly string[] {
  const names = readdirSync(new URL(`${folder}/`, source), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts') && !/(\.test|-fixtures)\.ts$/.test(name)).map((name) => `${folder}/${name}`);
}

describe('what the browser loads', () => {
  it.each([...filesIn('model'), ...filesIn('browser')])('%s imports only files of the page, which are served', (path) => {
    const text = readFileSync(new URL(path, source), 'utf8');
    const imports = [...text.matchAll(/^(?:import|export) (?!type)[^;]*? from '([^']+)';$/gm)].map(([, from = '']) => from);
    for (const from of imports) {
      const { pathname } = new URL(from, new URL(path, source));
      expect(pathname).toMatch(new RegExp(`^${source.pathname}(model|browser)/`));
      expect(from).toMatch(/^\.{1,2}\/.*\.js$/);
    }
  });

  it('is less than 100 kB of script before it is compressed, and less than 45 kB after', () => {
    const scripts = [...loadAssets()].filter(([path]) => path.endsWith('.js')).map(([, asset]) => asset);
    const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
    expect(scripts.length).toBeGreaterThan(40);
    expect(sum(scripts.map(({ body }) => body.length))).toBeLessThan(100_000);
    expect(sum(scripts.map(({ body, zipped = body }) => zipped.length))).toBeLessThan(45_000);
  });

  it.each([...filesIn('model'), ...filesIn('browser')])('%s has no text of several lines: indentation is not served', (path) => {
    const code = readFileSync(new URL(`../dist/${path.replace(/\.ts$/, '.js')}`, source), 'utf8');
    for (const line of code.split('\n')) expect((line.replaceAll("'`'", '').match(/`/g) ?? []).length % 2, line).toBe(0);
  });

  it('the page refers to no other server, and has no inline script or style, which the content security policy refuses', () => {
    const html = readFileSync(new URL('../page/index.html', source), 'utf8');
    const style = readFileSync(new URL('../page/style.css', source), 'utf8');
    expect(html.match(/(?:src|href)="([^"]*)"/g)?.length).toBeGreaterThan(0);
    for (const [, address = ''] of html.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).not.toMatch(/^(\/|[a-z]+:)/);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=/i);
    expect(style).not.toMatch(/@import|url\((?!["']?#)/);
  });
});

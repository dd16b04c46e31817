/** kubectl reads YAML 1.1, Node's parsers read YAML 1.2: our texts must mean the same to both. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource, wolConfigResource } from './index.js';

const ROOT = new URL('../../../', import.meta.url);

/** The documents of a text, as read by this version of YAML. */
function readAs(version: '1.1' | '1.2', text: string): unknown[] {
  return parseAllDocuments(text, { version }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

/** The YAML of a page: its fenced blocks, and settings in the text, as in `spec.paused: true`. */
function yamlOf(page: string): string[] {
  const blocks = [...page.matchAll(/^( *)```ya?ml\n([\s\S]*?)^\1```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  const settings = [...page.matchAll(/`([\w./-]+: [^`{|<\n]+)`/g)].map(([, setting = '']) => setting);
  return [...blocks, ...settings];
}

const ignored = (name: string) => name.includes('node_modules') || name.includes('/dist/');
const manifests = globSync('{packages/ippool-api/crds,examples,manifests,charts/vmdhcp/ci}/**/*.yaml', {
  cwd: ROOT,
  exclude: ignored,
});
const pages = globSync('**/*.md', { cwd: ROOT, exclude: ignored });

describe('YAML 1.1 and 1.2 read the same', () => {
  it('there are manifests and pages to look at', () => {
    expect(manifests).toContain('packages/ippool-api/crds/ippools.yaml');
    expect(manifests).toContain('examples/cluster/pools.yaml');
    expect(pages).toContain('docs/first-pool.md');
  });

  it.each(manifests)('in %s', (path) => {
    const text = readFileSync(new URL(path, ROOT), 'utf8');
    expect(readAs('1.1', text)).toEqual(readAs('1.2', text));
  });

  it.each(pages)('in the examples of %s', (path) => {
    for (const text of yamlOf(readFileSync(new URL(path, ROOT), 'utf8')))
      expect(readAs('1.1', text)).toEqual(readAs('1.2', text));
  });

  it('a page with an unquoted word of YAML 1.1 would be found', () => {
    const texts = yamlOf('text\n\n  ```yaml\n  conflictProbe: Off\n  ```\n and `conflictProbe: Off`\n');
    expect(texts).toHaveLength(2);
    for (const text of texts) {
      expect(readAs('1.1', text)).toEqual([{ conflictProbe: false }]);
      expect(readAs('1.2', text)).toEqual([{ conflictProbe: 'Off' }]);
    }
  });
});

/** Values that Kubernetes prescribes (`metav1.Condition`); controllers write them, in JSON. */
const PRESCRIBED = ['True', 'False'];

/** Every name of a field and every enum value of a schema. */
function wordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsOf);
  if (typeof schema !== 'object' || schema === null) return [];
  const { enum: values, properties } = schema as { enum?: unknown[]; properties?: object };
  const own = [...(values ?? []).map(String), ...Object.keys(properties ?? {})];
  return [...own, ...Object.values(schema).flatMap(wordsOf)];
}

describe.each([ipPoolResource, virtualMachineNetworkConfigResource, wolConfigResource])('the words of $kind', (resource) => {
  const words = [...new Set(wordsOf(toCustomResourceDefinition(resource)))].filter((word) => !PRESCRIBED.includes(word));

  it('are text to YAML 1.1 and 1.2, quoted or not', () => {
    expect(words.length).toBeGreaterThan(5);
    for (const word of words) {
      expect({ word, read: parse(word, { version: '1.1' }) as unknown }).toEqual({ word, read: word });
      expect({ word, read: parse(word, { version: '1.2' }) as unknown }).toEqual({ word, read: word });
    }
  });
});

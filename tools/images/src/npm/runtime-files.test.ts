import { describe, expect, it } from 'vitest';
import { isRuntimeFile } from './runtime-files.js';

describe('a file of a package', () => {
  it.each([
    ['package.json', true],
    ['dist/index.js', true],
    ['lib/types/reader.js', true],
    ['build/koffi.node', true],
    ['dist/doc/directives.js', true],
    ['docs/build.js', false],
    ['LICENSE.md', true],
    ['COPYING', true],
    ['README.md', false],
    ['dist/index.d.ts', false],
    ['dist/index.js.map', false],
    ['test/all.js', false],
    ['dist/testing/fake-clock.js', false],
    ['dist/agent-world-fixtures.js', false],
    ['.tool/settings.json', false],
    ['musl_x64/koffi.node', false],
    ['tsconfig.build.json', false],
    ['src/koffi.cc', false],
  ])('%s is in an image: %s', (path, isThere) => expect(isRuntimeFile(path)).toBe(isThere));
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Lockfile, type NeededPackage, neededPackages } from './lockfile.js';
import { placePackages } from './place-packages.js';

const LOCKFILE: Lockfile = {
  importers: {
    'packages/program': { dependencies: { '@x/library': { version: 'link:../library' }, a: { version: '1.0.0(b@2.0.0)' } } },
    'packages/library': { dependencies: { native: { version: '1.0.0' }, b: { version: '1.0.0' } } },
  },
  packages: {
    'a@1.0.0': { resolution: { integrity: 'sha512-a' } },
    'b@1.0.0': { resolution: { integrity: 'sha512-b1' } },
    'b@2.0.0': { resolution: { integrity: 'sha512-b2' } },
    'native@1.0.0': { resolution: { integrity: 'sha512-n' } },
    'native-arm64@1.0.0': { resolution: { integrity: 'sha512-na' }, os: ['linux'], cpu: ['arm64'] },
    'native-x64@1.0.0': { resolution: { integrity: 'sha512-nx' }, os: ['linux'], cpu: ['x64'] },
    'native-musl@1.0.0': { resolution: { integrity: 'sha512-nm' }, libc: ['musl'] },
  },
  snapshots: {
    'a@1.0.0(b@2.0.0)': { dependencies: { b: '2.0.0' } },
    'b@1.0.0': {},
    'b@2.0.0': {},
    'native@1.0.0': { optionalDependencies: { 'native-arm64': '1.0.0', 'native-x64': '1.0.0', 'native-musl': '1.0.0' } },
    'native-arm64@1.0.0': {},
    'native-x64@1.0.0': {},
    'native-musl@1.0.0': {},
  },
};

describe('the packages of a program', () => {
  it.each(['x64', 'arm64'])('for %s are those of the lockfile for this platform, folders of the workspace included', (cpu) => {
    const needed = neededPackages(LOCKFILE, { folder: 'packages/program', name: 'program' }, { os: 'linux', cpu });
    expect([...needed.keys()].toSorted()).toEqual(
      [
        'a@1.0.0(b@2.0.0)',
        'b@1.0.0',
        'b@2.0.0',
        'native@1.0.0',
        `native-${cpu}@1.0.0`,
        'packages/library',
        'packages/program',
      ].toSorted(),
    );
    expect(needed.get('b@2.0.0')).toMatchObject({ name: 'b', registry: { version: '2.0.0', integrity: 'sha512-b2' } });
    expect(needed.get('packages/library')).toMatchObject({ name: '@x/library', registry: undefined });
  });

  it('are at the top, and below the package that needs another version', () => {
    const needed = neededPackages(LOCKFILE, { folder: 'packages/program', name: 'program' }, { os: 'linux', cpu: 'x64' });
    const placed = placePackages(needed, 'packages/program').map(({ path, package: { key } }) => [path, key]);
    expect(Object.fromEntries(placed)).toEqual({
      program: 'packages/program',
      '@x/library': 'packages/library',
      a: 'a@1.0.0(b@2.0.0)',
      b: 'b@2.0.0',
      native: 'native@1.0.0',
      'native-x64': 'native-x64@1.0.0',
      '@x/library/node_modules/b': 'b@1.0.0',
    });
  });

  it('that the lockfile lacks are an error', () => {
    expect(() =>
      neededPackages({ ...LOCKFILE, snapshots: {} }, { folder: 'packages/program', name: 'p' }, { os: 'linux', cpu: 'x64' }),
    ).toThrow(/pnpm-lock\.yaml has no/);
  });

  it('that need themselves through another version are refused', () => {
    const one = (key: string, dependency: string): [string, NeededPackage] => [
      key,
      { key, name: 'a', registry: undefined, dependencies: [dependency] },
    ];
    expect(() => placePackages(new Map([one('a@1', 'a@2'), one('a@2', 'a@1')]), 'a@1')).toThrow('a@1 needs itself');
  });

  it('law: every package finds each of its dependencies in the version that it needs', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(11), { maxLength: 4 }), { minLength: 1, maxLength: 12 }), (graph) => {
        // Package i is version i of one of four names.
        const key = (index: number) => `p${index % 4}@${index}`;
        const needed = new Map(
          graph.map((dependencies, index): [string, NeededPackage] => {
            const known = [
              ...new Map(dependencies.filter((to) => to > index && to < graph.length).map((to) => [to % 4, key(to)])).values(),
            ];
            return [key(index), { key: key(index), name: `p${index % 4}`, registry: undefined, dependencies: known }];
          }),
        );
        const placed = new Map(placePackages(needed, key(0)).map(({ path, package: one }) => [path, one]));
        for (const [path, one] of placed)
          for (const dependency of one.dependencies) expect(find(placed, path, dependency.split('@')[0] ?? '')).toBe(dependency);
      }),
    );
  });
});

/** As Node looks for it. */
function find(placed: ReadonlyMap<string, NeededPackage>, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const found = placed.get(`${folder}/node_modules/${name}`);
    if (found !== undefined) return found.key;
    if (!folder.includes('/node_modules/')) return placed.get(name)?.key;
  }
}

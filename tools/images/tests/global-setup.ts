import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type ImageSummary, readJson } from './build-images.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder with the layouts of both programs. */
    readonly layouts: string;
    readonly images: readonly ImageSummary[];
  }
}

const CGROUPS = '/sys/fs/cgroup/unified';

/** The images that `npm test -- images` has built: registries cannot be reached from here. */
export function setup(project: TestProject): void {
  const layouts = process.env['VMDHCP_IMAGE_LAYOUTS'];
  if (layouts === undefined) throw new Error('there are no images; run these tests by "npm test -- images"');
  project.provide('layouts', layouts);
  project.provide('images', readJson<readonly ImageSummary[]>(join(layouts, 'built.json')));
  // crun does not run where control groups of both versions are mounted. This mount is seen in the namespaces of the tests only.
  if (existsSync(CGROUPS)) execFileSync('mount', ['--bind', CGROUPS, '/sys/fs/cgroup']);
}

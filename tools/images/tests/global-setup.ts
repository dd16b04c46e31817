import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildImages, type ImageSummary } from './build-images.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder with the layouts of both programs. */
    readonly layouts: string;
    readonly images: readonly ImageSummary[];
  }
}

const CGROUPS = '/sys/fs/cgroup/unified';

/** Builds the images once for all tests. */
export async function setup(project: TestProject): Promise<() => void> {
  const layouts = mkdtempSync(join(tmpdir(), 'vmdhcp-images-'));
  project.provide('layouts', layouts);
  project.provide('images', await buildImages(layouts));
  // crun does not run where control groups of both versions are mounted. This mount is seen in the namespaces of the tests only.
  if (existsSync(CGROUPS)) execFileSync('mount', ['--bind', CGROUPS, '/sys/fs/cgroup']);
  return () => rmSync(layouts, { recursive: true, force: true });
}

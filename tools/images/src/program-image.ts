import type { Capability } from './tree/image-entry.js';

/** What the image of a program has that the others have not. */
export interface ProgramImage {
  readonly name: 'controller' | 'agent';
  /** Its npm package, which is a folder of the workspace. */
  readonly packageName: string;
  readonly folder: string;
  readonly title: string;
  /** What its Node may take into use. */
  readonly capabilities: readonly Capability[];
}

export const PROGRAM_IMAGES: readonly ProgramImage[] = [
  {
    name: 'controller',
    packageName: 'vmdhcp-controller',
    folder: 'packages/controller-cli',
    title: 'vmdhcp-controller',
    capabilities: [],
  },
  {
    name: 'agent',
    packageName: 'vmdhcp-agent',
    folder: 'packages/agent-cli',
    title: 'vmdhcp-agent',
    capabilities: ['NET_BIND_SERVICE', 'NET_ADMIN', 'NET_RAW'],
  },
];

/** Who runs in the image: an account without a name on any node, the same as in other images without a shell. */
export const IMAGE_USER = 65_532;
export const NODE_PATH = 'usr/bin/node';
/** Where the packages of npm are. */
export const MODULES = 'app/node_modules';

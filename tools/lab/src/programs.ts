import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built command lines. */
export const AGENT_BIN = binOf('vmdhcp-agent');
export const CONTROLLER_BIN = binOf('vmdhcp-controller');
export const PLUGIN_BIN = binOf('kubectl-vmdhcp');
export const SIMULATOR_BIN = join(packageFolder('@vmdhcp/kube-simulator'), 'bin', 'kube-simulator.js');

function binOf(name: string): string {
  return join(packageFolder(name), 'bin', `${name}.js`);
}

function packageFolder(name: string): string {
  return join(fileURLToPath(import.meta.resolve(`${name}/package.json`)), '..');
}

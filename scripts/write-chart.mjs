// Writes what follows from other files into the chart: its version, the CustomResourceDefinitions; manifests/, the chart for
// `kubectl apply`; and bundle/, the chart for OLM. Tests of tools/chart-renderer fail when one of them is not what this would write.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { hasRenderer, MANIFESTS, missingPackages, renderBundle, renderManifest } from '../tools/chart-renderer/dist/index.js';

const { version } = JSON.parse(readFileSync('packages/controller-cli/package.json', 'utf8'));
const chart = readFileSync('charts/vmdhcp/Chart.yaml', 'utf8');
write('charts/vmdhcp/Chart.yaml', chart.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));
for (const path of globSync('packages/ippool-api/crds/*.yaml'))
  write(`charts/vmdhcp/files/crds/${basename(path)}`, readFileSync(path, 'utf8'));
for (const path of globSync('packages/ippool-api/crds/bare-metal/*.yaml'))
  write(`charts/vmdhcp/files/crds/bare-metal.${basename(path)}`, readFileSync(path, 'utf8'));

// Where every real part must be there (a release), this throws: manifests/ of an earlier version would name its images.
if (hasRenderer()) {
  for (const file of Object.keys(MANIFESTS)) write(`manifests/${file}`, renderManifest(file));
  const bundle = renderBundle();
  rmSync('bundle', { recursive: true, force: true });
  for (const [path, text] of bundle) write(`bundle/${path}`, text);
} else {
  process.stderr.write(`manifests/ and bundle/ are left as they are: apt-get install ${missingPackages().join(' ')}\n`);
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// Writes crds/*.yaml from the schemas. A test fails when the files are not what this would write.
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource } from '../dist/index.js';

for (const resource of [ipPoolResource, virtualMachineNetworkConfigResource]) {
  const file = new URL(`../crds/${resource.plural}.yaml`, import.meta.url);
  writeFileSync(file, stringify(toCustomResourceDefinition(resource), { lineWidth: 120, aliasDuplicateObjects: false }));
}

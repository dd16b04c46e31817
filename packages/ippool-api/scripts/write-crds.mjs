// Writes crds/*.yaml from the schemas. A test fails when the files are not what this would write.
// `compat`: kubectl reads YAML 1.1, so words that mean something else there are quoted.
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource } from '../dist/index.js';

for (const resource of [ipPoolResource, virtualMachineNetworkConfigResource]) {
  const file = new URL(`../crds/${resource.plural}.yaml`, import.meta.url);
  writeFileSync(
    file,
    stringify(toCustomResourceDefinition(resource), { lineWidth: 120, aliasDuplicateObjects: false, compat: 'yaml-1.1' }),
  );
}

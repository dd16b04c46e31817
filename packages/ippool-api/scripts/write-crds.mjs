// Writes crds/*.yaml and crds/bare-metal/*.yaml from the schemas. A test fails when the files are not what this would write.
// `compat`: kubectl reads YAML 1.1, so words that mean something else there are quoted.
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { bareMetalResources } from '../dist/bare-metal/index.js';
import {
  ipPoolResource,
  toCustomResourceDefinition,
  virtualMachineNetworkConfigResource,
  wolConfigResource,
} from '../dist/index.js';

const options = { lineWidth: 120, aliasDuplicateObjects: false, compat: 'yaml-1.1' };
const write = (folder, resource) =>
  writeFileSync(
    new URL(`../crds/${folder}${resource.plural}.yaml`, import.meta.url),
    stringify(toCustomResourceDefinition(resource), options),
  );

for (const resource of [ipPoolResource, virtualMachineNetworkConfigResource, wolConfigResource]) write('', resource);
// In a separate folder, so that applying crds/ installs only the kinds of DHCP for virtual machines.
for (const resource of bareMetalResources) write('bare-metal/', resource);

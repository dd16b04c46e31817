/** How kubectl and the API server read an unquoted word of YAML, where that differs from YAML 1.2. */
import type { ScalarTag, Tags } from 'yaml';

/** Words of YAML 1.1 for true and false. Source: sigs.k8s.io/yaml, goyaml.v2 `resolve.go`. */
const SWITCHES: readonly ScalarTag[] = [
  { default: true, tag: 'tag:yaml.org,2002:bool', test: /^(?:y|Y|yes|Yes|YES|on|On|ON)$/, resolve: () => true },
  { default: true, tag: 'tag:yaml.org,2002:bool', test: /^(?:n|N|no|No|NO|off|Off|OFF)$/, resolve: () => false },
];

/** The tags of a schema, and those words. */
export function kubernetesTags(tags: Tags): Tags {
  return [...SWITCHES, ...tags];
}

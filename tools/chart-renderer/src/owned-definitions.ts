/**
 * How a console shows the kinds that a ClusterServiceVersion owns. What a field means is said once, in the schema of its definition.
 *
 * Source: github.com/openshift/console, frontend/packages/operator-lifecycle-manager/src/components/descriptors (the names of x-descriptors).
 */

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
}

interface DefinitionSpec {
  readonly names: { readonly kind: string };
  readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
}

interface ShownField {
  readonly path: string;
  readonly displayName: string;
  readonly as?: string;
}

interface ShownKind {
  readonly displayName: string;
  readonly description: string;
  readonly spec: readonly ShownField[];
  readonly status: readonly ShownField[];
}

const UI = 'urn:alm:descriptor:com.tectonic.ui';
const CONDITIONS: ShownField = {
  path: 'conditions',
  displayName: 'Conditions',
  as: 'urn:alm:descriptor:io.kubernetes.conditions',
};

const SHOWN: Readonly<Record<string, ShownKind>> = {
  IPPool: {
    displayName: 'IP pool',
    description: 'The addresses of a network, and the options that its clients get.',
    spec: [
      { path: 'networkName', displayName: 'Network', as: `${UI}:text` },
      { path: 'ipv4Config.cidr', displayName: 'Subnet', as: `${UI}:text` },
      { path: 'ipv4Config.router', displayName: 'Router', as: `${UI}:text` },
      { path: 'ipv4Config.serverIP', displayName: 'Server address', as: `${UI}:text` },
      { path: 'ipv4Config.pool.start', displayName: 'First address', as: `${UI}:text` },
      { path: 'ipv4Config.pool.end', displayName: 'Last address', as: `${UI}:text` },
      { path: 'ipv4Config.leaseTime', displayName: 'Lease time in seconds', as: `${UI}:number` },
      { path: 'paused', displayName: 'Paused', as: `${UI}:booleanSwitch` },
    ],
    status: [CONDITIONS],
  },
  VirtualMachineNetworkConfig: {
    displayName: 'Addresses of a virtual machine',
    description: 'The addresses of one virtual machine. The controller creates it for each virtual machine that has one.',
    spec: [{ path: 'networkConfigs[0].ipAddress', displayName: 'Wanted address', as: `${UI}:text` }],
    status: [CONDITIONS],
  },
};

/** The entries of `customresourcedefinitions.owned`. @throws Error for a kind or a field that is not there. */
export function toOwnedDefinitions(definitions: readonly Definition[]): readonly object[] {
  return definitions.flatMap(({ metadata, spec }) => {
    const { names, versions } = spec as DefinitionSpec;
    return versions.map((version) => {
      const shown = SHOWN[names.kind];
      if (shown === undefined) throw new Error(`how ${names.kind} is shown is not known: add it to owned-definitions.ts`);
      const describe = (part: string, fields: readonly ShownField[]) =>
        fields.map((field) => toDescriptor(version.schema.openAPIV3Schema.properties?.[part], part, field));
      return {
        ...{ name: metadata.name, version: version.name, kind: names.kind },
        ...{ displayName: shown.displayName, description: shown.description },
        specDescriptors: describe('spec', shown.spec),
        statusDescriptors: describe('status', shown.status),
      };
    });
  });
}

function toDescriptor(schema: Schema | undefined, part: string, { path, displayName, as }: ShownField): object {
  const field = path
    .split(/[.[]/)
    .reduce<Schema | undefined>((at, key) => (key.endsWith(']') ? at?.items : at?.properties?.[key]), schema);
  if (field === undefined) throw new Error(`there is no field ${part}.${path}: change owned-definitions.ts`);
  return {
    ...{ path, displayName },
    ...(field.description !== undefined && { description: field.description }),
    ...(as !== undefined && { 'x-descriptors': [as] }),
  };
}

export const DATA_FORMATS = ['json', 'yaml'] as const;
export type DataFormat = (typeof DATA_FORMATS)[number];

/** Writes a value to the standard output. */
export async function printData(format: DataFormat, value: unknown): Promise<void> {
  process.stdout.write(format === 'json' ? `${JSON.stringify(value, undefined, 2)}\n` : await toYaml(value));
}

async function toYaml(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}

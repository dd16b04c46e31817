import { escapeUnprintable, printableJson, printableText } from '@vmdhcp/service-process';

export const DATA_FORMATS = ['json', 'yaml'] as const;
export type DataFormat = (typeof DATA_FORMATS)[number];

/** Writes a value to the standard output. @param place - `stream` if others follow it. */
export async function printData(format: DataFormat, value: unknown, place?: 'stream'): Promise<void> {
  process.stdout.write((await formatterOf(format, place))(value));
}

/** Formats values as text. In a stream, a JSON value is one line, and a YAML value is one document. */
export async function formatterOf(format: DataFormat, place?: 'stream'): Promise<(value: unknown) => string> {
  if (format === 'json') return (value) => `${printableJson(value, place === 'stream' ? undefined : 2)}\n`;
  const { Document, visit } = await import('yaml');
  const start = place === 'stream' ? '---\n' : '';
  return (value) => {
    const document = new Document(value, { aliasDuplicateObjects: false });
    visit(document, {
      Scalar: (_, scalar) => {
        const { value: text } = scalar;
        if (typeof text === 'string' && printableText(text) !== text) scalar.type = 'QUOTE_DOUBLE';
      },
    });
    return `${start}${escapeUnprintable(document.toString({ lineWidth: 0 }))}`;
  };
}

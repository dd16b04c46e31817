/**
 * An OpenAPI document that describes nothing, in the protocol buffer form that kubectl asks for: it skips its own validation then.
 * Source: openapiv2 Document: 1 = swagger, 2 = info (1 = title, 2 = version), 8 = paths.
 */
function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
}

const info = Buffer.concat([field(1, Buffer.from('Kubernetes')), field(2, Buffer.from('v1.36.2'))]);

export const openApiV2Protobuf = Buffer.concat([field(1, Buffer.from('2.0')), field(2, info), field(8, Buffer.alloc(0))]);
export const openApiV2 = { swagger: '2.0', info: { title: 'Kubernetes', version: 'v1.36.2' }, paths: {}, definitions: {} };
/** Clients ask for a media type that contains an `@`. Go's clients could not parse it in an answer. */
export const openApiMediaType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

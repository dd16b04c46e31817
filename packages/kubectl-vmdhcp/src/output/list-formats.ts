export const LIST_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

/** Formats the result of a check as text, as JSON, and for pipelines. */
import { ADMISSION_RULES } from '@vmdhcp/reconciler';
import { printableJson, printableText } from '@vmdhcp/service-process';
import { type CheckFinding, describeFinding } from './check-finding.js';
import type { CheckResult } from './check-manifests.js';
import type { OutputFormat } from './output-format.js';

/** Ends with a line feed, unless it is empty. */
export function formatFindings(format: OutputFormat, result: CheckResult): string {
  switch (format) {
    case 'text':
      return printableText(toText(result));
    case 'json':
      return toJson(result);
    case 'sarif':
      return toSarif(result);
    case 'github':
      return printableText(result.findings.map((finding) => `${toGithub(finding)}\n`).join(''));
  }
}

function toText({ findings, checked, ignored }: CheckResult): string {
  const lines = findings.map(describeFinding);
  const counts = Object.entries(checked).map(([kind, count]) => `${kind} ${count}`);
  const others = ignored === 0 ? '' : `; ${ignored} of other kinds ignored`;
  return `${[...lines, `checked: ${counts.join(', ')}${others}`].join('\n')}\n`;
}

function toJson({ findings, checked, ignored }: CheckResult): string {
  const of = (severity: CheckFinding['severity']) =>
    findings.filter((one) => one.severity === severity).map((finding) => ({ ...finding, severity: undefined }));
  const problems = of('problem');
  const value = { ok: problems.length === 0, problems, warnings: of('warning'), checked, ignored };
  return `${printableJson(value, 2)}\n`;
}

/** Source: SARIF 2.1.0, which code hosts show beside the line. */
function toSarif({ findings }: CheckResult): string {
  const reasons = [...new Set(findings.map(({ reason }) => reason))].toSorted();
  const rules = reasons.map((id) => ({ id, shortDescription: { text: meaningOf(id) } }));
  const results = findings.map((finding) => ({
    ruleId: finding.reason,
    level: finding.severity === 'problem' ? 'error' : 'warning',
    message: { text: describeWithoutPlace(finding) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(finding.file) },
          region: { startLine: finding.line, startColumn: finding.column },
        },
      },
    ],
  }));
  const driver = { name: 'vmdhcp-controller check', rules };
  const sarif = { $schema: SARIF_SCHEMA, version: '2.1.0', runs: [{ tool: { driver }, results }] };
  return `${printableJson(sarif, 2)}\n`;
}

const SARIF_SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

function meaningOf(reason: string): string {
  if (reason === 'not-yaml') return 'The text is not YAML.';
  if (reason === 'object-twice') return 'Two objects of one kind have the same name.';
  return Object.hasOwn(ADMISSION_RULES, reason) ? ADMISSION_RULES[reason as keyof typeof ADMISSION_RULES].meaning : reason;
}

function toUri(file: string): string {
  return file.split('/').map(encodeURIComponent).join('/');
}

/** A workflow command. Source: GitHub Actions, "Workflow commands": values escape %, CR and LF, properties : and , too. */
function toGithub(finding: CheckFinding): string {
  const { severity, file, line, column, reason } = finding;
  const properties = { file, line, col: column, title: reason };
  const text = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  return `::${severity === 'problem' ? 'error' : 'warning'} ${text.join(',')}::${escapeData(describeWithoutPlace(finding))}`;
}

function describeWithoutPlace({ object, field, message, remedy }: CheckFinding): string {
  return `${object}: ${field === '' ? '' : `${field}: `}${message}; ${remedy}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

import { hash } from 'node:crypto';
import { STYLE } from './reference-style.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';

export interface ReferencePage {
  readonly html: string;
  /** For the page's Content-Security-Policy: it has one style and no script. */
  readonly styleHash: string;
}

/** The OpenAPI document for people: one page of HTML, made here, that loads nothing. */
export function referencePage(document: JsonObject): ReferencePage {
  const info = objectAt(document, 'info');
  const operations = operationsOf(document);
  const groups = listAt(document, 'tags').map((tag) => text(tag, 'name'));
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(text(info, 'title'))} API</title>
<style>${STYLE}</style>
</head>
<body>
<nav aria-label="Routes">
<p class="brand">${escape(text(info, 'title'))} <small>${escape(text(info, 'version'))}</small></p>
${groups
  .map(
    (group) =>
      `<h2>${escape(group)}</h2>\n<ul>${operations
        .filter((one) => one.group === group)
        .map(navItem)
        .join('\n')}</ul>`,
  )
  .join('\n')}
<h2>Schemas</h2>
<ul>${Object.keys(schemasOf(document))
    .map((name) => `<li><a href="#schema-${escape(name)}">${escape(name)}</a></li>`)
    .join('\n')}</ul>
</nav>
<main>
<h1>${escape(text(info, 'title'))} API</h1>
<p>${escape(text(info, 'summary'))} The same as <a href="/api/openapi.json">OpenAPI 3.1</a>, for programs.</p>
${groups
  .map(
    (group) =>
      `<h2>${escape(group)}</h2>\n${operations
        .filter((one) => one.group === group)
        .map(section)
        .join('\n')}`,
  )
  .join('\n')}
<h2>Schemas</h2>
${Object.entries(schemasOf(document))
  .map(
    ([name, schema]) =>
      `<section id="schema-${escape(name)}"><h3>${escape(name)}</h3>${about(schema)}${shape(schema)}</section>`,
  )
  .join('\n')}
</main>
</body>
</html>
`;
  return { html, styleHash: `sha256-${hash('sha256', STYLE, 'base64')}` };
}

interface Operation {
  readonly group: string;
  readonly method: string;
  readonly path: string;
  readonly body: Json;
}

function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(objectAt(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).map(([method, body]) => ({
      group: said(listAt(body, 'tags')[0]),
      method: method.toUpperCase(),
      path,
      body,
    })),
  );
}

function navItem({ method, path, body }: Operation): string {
  return `<li><a href="#${escape(text(body, 'operationId'))}"><b class="${method}">${method}</b> ${escape(path)}</a></li>`;
}

function section({ method, path, body }: Operation): string {
  const parameters = listAt(body, 'parameters').map((one) => {
    const given = objectAt(one, 'schema');
    const required = isObject(one) && one['required'] === true ? '' : ' <i>optional</i>';
    return `<tr><th scope="row"><code>${escape(text(one, 'name'))}</code>${required}</th><td>${escape(text(one, 'in'))}</td><td>${kind(given)}</td><td>${prose(text(one, 'description'))}</td></tr>`;
  });
  const asked = jsonBody(objectAt(body, 'requestBody'));
  const replies = Object.entries(objectAt(body, 'responses')).map(([status, reply]) => {
    const given = jsonBody(reply as JsonObject); // a response of the document
    const shown = status < '300' && given !== undefined ? ` ${kind(given)}` : '';
    return `<tr><th scope="row">${escape(status)}</th><td>${prose(text(reply, 'description'))}${shown}</td></tr>`;
  });
  return `<section id="${escape(text(body, 'operationId'))}">
<h3><b class="${method}">${method}</b> <code>${escape(path)}</code></h3>
<p>${prose(text(body, 'summary'))} ${prose(text(body, 'description'))}</p>
${parameters.length === 0 ? '' : `<table><caption>Parameters</caption>${parameters.join('')}</table>`}
${asked === undefined ? '' : `<h4>Body</h4>${kind(asked)}`}
<table><caption>Replies</caption>${replies.join('')}</table>
</section>`;
}

/** The fields of an object schema, or its kind in a word. */
function shape(schema: Json): string {
  const members = membersOf(schema);
  if (members.length > 0) return `<ul class="one-of">${members.map((one) => `<li>${shape(one)}</li>`).join('')}</ul>`;
  const properties = Object.entries(objectAt(schema, 'properties'));
  if (properties.length === 0) return `<p>${kind(schema)}</p>`;
  const required = listAt(schema, 'required');
  const rows = properties.map(([name, field]) => {
    const optional = required.includes(name) ? '' : ' <i>optional</i>';
    return `<tr><th scope="row"><code>${escape(name)}</code>${optional}</th><td>${kind(field)}</td><td>${prose(text(field, 'description'))}</td></tr>`;
  });
  return `<table>${rows.join('')}</table>`;
}

/** A schema in a few words, with a link where it has a name. */
function kind(schema: Json | undefined): string {
  const reference = text(schema, '$ref').split('/').at(-1) ?? '';
  if (reference !== '') return `<a href="#schema-${escape(reference)}">${escape(reference)}</a>`;
  const words = [...listAt(schema, 'enum'), ...at(schema, 'const')];
  if (words.length > 0) return words.map((word) => `<code>${escape(said(word))}</code>`).join(' ');
  if (text(schema, 'type') === 'array') return `list of ${at(schema, 'items').map(kind).join('')}`;
  const members = membersOf(schema);
  if (members.length > 0) return members.map(kind).join(' or ');
  if (Object.keys(objectAt(schema, 'properties')).length > 0) return shape(schema ?? {});
  const [values] = at(schema, 'additionalProperties');
  if (isObject(values)) return `by name: ${kind(values)}`;
  const [least = 0] = [...at(schema, 'minimum'), ...at(schema, 'minLength')];
  const [most] = [...at(schema, 'maximum'), ...at(schema, 'maxLength')];
  const range =
    most !== undefined ? ` of ${said(least)} to ${said(most)}` : least !== 0 ? `, at least ${said(least)}` : '';
  return escape(`${text(schema, 'format') || text(schema, 'type') || 'any JSON'}${range}`);
}

function membersOf(schema: Json | undefined): readonly Json[] {
  return [...listAt(schema, 'oneOf'), ...listAt(schema, 'anyOf')];
}

function about(schema: Json): string {
  const words = text(schema, 'description');
  return words === '' ? '' : `<p>${prose(words)}</p>`;
}

function jsonBody(holder: JsonObject): Json | undefined {
  const [content] = Object.values(objectAt(holder, 'content'));
  return at(content, 'schema')[0];
}

function schemasOf(document: JsonObject): JsonObject {
  return objectAt(objectAt(document, 'components'), 'schemas');
}

/** The value of a key, if there is one. */
function at(value: Json | undefined, name: string): readonly Json[] {
  const found = isObject(value) ? value[name] : undefined; // JSON holds JSON
  return found === undefined ? [] : [found];
}

function objectAt(value: Json | undefined, name: string): JsonObject {
  const [found] = at(value, name);
  return isObject(found) ? found : {}; // JSON holds JSON
}

function listAt(value: Json | undefined, name: string): readonly Json[] {
  const [found] = at(value, name);
  return Array.isArray(found) ? (found as readonly Json[]) : []; // JSON holds JSON
}

function text(value: Json | undefined, name: string): string {
  const [found] = at(value, name);
  return typeof found === 'string' ? found : '';
}

function said(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

/** Text with its words in backticks as code. */
function prose(words: string): string {
  return escape(words).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escape(words: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return words.replaceAll(/[&<>"]/g, (one) => entities[one] ?? one);
}

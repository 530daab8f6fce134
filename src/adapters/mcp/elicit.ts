import { isObject, toJson, tryParseJson, type Json, type JsonObject } from '../../base/json.ts';
import { head } from '../../base/text.ts';
import { checkOf } from './remote-tool.ts';

/** What a server wants to know while it runs a tool: a flat form. */
export interface Form {
  readonly message: string;
  /** By name: a primitive schema, as MCP allows. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  readonly schema: JsonObject;
}

export interface Question {
  readonly question: string;
  readonly choices?: readonly string[];
}

const LONGEST_MESSAGE = 2_000;
const MOST_CHOICES = 50;

/** The form of a server's request, or undefined where there is none, such as a request to visit a page. */
export function formOf(params: unknown): Form | undefined {
  if (!isObject(params) || params['mode'] === 'url') return undefined;
  const { message, requestedSchema } = params;
  const schema = toJson(requestedSchema ?? { type: 'object', properties: {} });
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(schema) || !isObject(properties)) return undefined;
  const fields = Object.entries(properties).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
  return {
    message: head(typeof message === 'string' ? message : 'Please fill in.', LONGEST_MESSAGE),
    fields: Object.fromEntries(fields),
    schema: schema, // an object, and JSON
  };
}

/** The form as one question to a person. Says who asks: it is the server's wording, not ours. */
export function questionOf(server: string, { message, fields }: Form, problem?: string): Question {
  const names = Object.keys(fields);
  const [only] = names;
  const again = problem === undefined ? '' : `\n(The last answer did not fit: ${problem})`;
  const asks = `The tool server ${server} asks: ${message}${again}`;
  if (only === undefined) return { question: asks, choices: ['yes', 'no'] };
  if (names.length === 1) {
    const choices = choicesOf(fields[only] ?? {});
    const question = `${asks}\n${described(only, fields[only] ?? {})}`;
    return choices.length < 2 ? { question } : { question, choices };
  }
  const lines = names.map((name) => described(name, fields[name] ?? {}));
  return { question: `${asks}\n${lines.join('\n')}\nAnswer with a line "name: value" for each, or as a JSON object.` };
}

/** How many of the person's earlier answers were for this form: by the words of the question before any remark. */
export function isSameQuestion(asked: string, server: string, form: Form): boolean {
  const { question } = questionOf(server, form);
  const [first = ''] = question.split('\n');
  return asked === question || asked.startsWith(`${first}\n(The last answer`);
}

type Filled =
  | { readonly action: 'accept'; readonly content: Record<string, string | number | boolean | string[]> }
  | { readonly action: 'decline' }
  | { readonly action: 'wrong'; readonly problem: string };

/** What a person answered, as the form wants it. Nothing is guessed: what does not fit is asked again. */
export function filled({ fields, schema }: Form, reply: string): Filled {
  const names = Object.keys(fields);
  if (names.length === 0)
    return /^(y|yes|ok|true)$/i.test(reply.trim()) ? { action: 'accept', content: {} } : { action: 'decline' };
  // What the person was told is usual counts for what was left out.
  const content = { ...usualOf(fields), ...valuesOf(names, fields, reply.trim()) };
  const problems = checkOf(schema)(content);
  if (problems.length > 0) return { action: 'wrong', problem: problems.join('; ') };
  return { action: 'accept', content: content as Record<string, string | number | boolean | string[]> }; // as the schema wants
}

function usualOf(fields: Form['fields']): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { default: usual }]): [string, Json][] =>
      usual === undefined ? [] : [[name, usual]],
    ),
  );
}

function valuesOf(names: readonly string[], fields: Form['fields'], reply: string): JsonObject {
  const parsed = tryParseJson(reply);
  if (parsed.ok && isObject(parsed.value)) return parsed.value; // JSON by its source
  const [only] = names;
  if (reply === '') return {};
  if (names.length === 1 && only !== undefined) return { [only]: valueOf(fields[only] ?? {}, reply) };
  const given = reply.split('\n').flatMap((line): [string, Json][] => {
    const at = line.indexOf(':');
    const name = line.slice(0, at).trim();
    return at > 0 && names.includes(name) ? [[name, valueOf(fields[name] ?? {}, line.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(given);
}

function valueOf(field: JsonObject, text: string): Json {
  switch (field['type']) {
    case 'boolean':
      return /^(y|yes|true)$/i.test(text) ? true : /^(n|no|false)$/i.test(text) ? false : text;
    case 'number':
    case 'integer':
      return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'array':
      return text.split(',').map((one) => constantOf(isObject(field['items']) ? field['items'] : {}, one.trim())); // JSON
    default:
      return constantOf(field, text);
  }
}

/** The value that a title stands for. */
function constantOf(field: JsonObject, text: string): string {
  const found = options(field).find(({ value, title }) => value === text || title === text);
  return found?.value ?? text;
}

function options(field: JsonObject): readonly { readonly value: string; readonly title: string }[] {
  const titled = [field['oneOf'], field['anyOf']].find(Array.isArray);
  if (titled !== undefined) {
    return titled.flatMap((one: unknown) =>
      isObject(one) && typeof one['const'] === 'string'
        ? [{ value: one['const'], title: typeof one['title'] === 'string' ? one['title'] : one['const'] }]
        : [],
    );
  }
  const values: readonly unknown[] = Array.isArray(field['enum']) ? field['enum'] : [];
  const names: readonly unknown[] = Array.isArray(field['enumNames']) ? field['enumNames'] : [];
  return values.flatMap((value, index) => {
    const title = names[index];
    return typeof value === 'string' ? [{ value, title: typeof title === 'string' ? title : value }] : [];
  });
}

function choicesOf(field: JsonObject): readonly string[] {
  if (field['type'] === 'boolean') return ['yes', 'no'];
  if (field['type'] === 'array') return [];
  return options(field)
    .slice(0, MOST_CHOICES)
    .map(({ title }) => title);
}

function described(name: string, field: JsonObject): string {
  const { title, description, type, default: fallback } = field;
  const of = field['type'] === 'array' && isObject(field['items']) ? field['items'] : field; // JSON
  const known = options(of).map((one) => one.title);
  const facts = [
    typeof type === 'string' ? (type === 'array' ? 'several, with commas' : type) : 'text',
    ...(known.length === 0 ? [] : [`one of ${known.slice(0, MOST_CHOICES).join(', ')}`]),
    ...(fallback === undefined ? [] : [`usually ${JSON.stringify(fallback)}`]),
  ];
  const words = [title, description].filter((one): one is string => typeof one === 'string').join(': ');
  return `- ${name} (${facts.join('; ')})${words === '' ? '' : ` ${head(words, 500)}`}`;
}

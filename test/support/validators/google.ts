import {
  fields,
  halfCharacters,
  isBlank,
  isFields,
  list,
  repeated,
  schemaProblems,
  text,
  type Fields,
} from './body.ts';

const KINDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
];

/** Problems of a body of models/…:streamGenerateContent, by the rules of the Gemini API reference and its error messages. */
export function validate(body: unknown): string[] {
  const root = fields(body);
  const problems = halfCharacters(body);
  const say = (problem: string) => problems.push(problem);
  const contents = list(root['contents']).map(fields);
  if (contents.length === 0) say('contents is empty');
  if (contents[0]?.['role'] !== 'user') say('the first content is not the user’s');
  if (contents.at(-1)?.['role'] !== 'user') say('the last content is not the user’s');
  for (const [index, content] of contents.entries()) {
    const where = `contents.${index}`;
    if (content['role'] !== 'user' && content['role'] !== 'model')
      say(`${where} has the role ${text(content['role'])}`);
    if (parts(content).length === 0) say(`${where} has no parts`);
    for (const part of parts(content)) for (const problem of partProblems(part)) say(`${where} ${problem}`);
    const calls = ofKind(content, 'functionCall');
    const answers = ofKind(contents[index + 1], 'functionResponse');
    if (calls.length > 0 && index > 0 && contents[index - 1]?.['role'] !== 'user') {
      say(`${where} calls a function and does not follow a user’s content`);
    }
    if (calls.length > 0 && JSON.stringify(calls.map(label)) !== JSON.stringify(answers.map(label))) {
      say(`${where} calls ${calls.map(label).join(', ')} and is answered by ${answers.map(label).join(', ')}`);
    }
    if (ofKind(content, 'functionResponse').length > 0 && ofKind(contents[index - 1], 'functionCall').length === 0) {
      say(`${where} answers a call that is not there`);
    }
  }
  const ids = contents.flatMap((content) => ofKind(content, 'functionCall').map((call) => call['id']));
  for (const id of repeated(ids.filter((one) => one !== undefined))) say(`the call id ${text(id)} is used twice`);
  for (const part of parts(fields(root['systemInstruction']))) {
    if (isBlank(part['text'])) say('the system instruction is blank');
  }
  const declared = list(root['tools']).flatMap((tool) => list(fields(tool)['functionDeclarations']).map(fields));
  for (const { name, parametersJsonSchema: schema } of declared) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(text(name))) say(`the function name ${text(name)} is not allowed`);
    if (schema !== undefined) problems.push(...schemaProblems(schema, `tool ${text(name)}`));
  }
  const config = fields(fields(root['toolConfig'])['functionCallingConfig']);
  for (const name of list(config['allowedFunctionNames'])) {
    if (!declared.some((one) => one['name'] === name)) say(`${text(name)} is allowed and not declared`);
    if (config['mode'] !== 'ANY') say('allowedFunctionNames without the mode ANY');
  }
  return problems;
}

function parts(content: Fields): Fields[] {
  return list(content['parts']).map(fields);
}

function ofKind(content: Fields | undefined, kind: string): Fields[] {
  return content === undefined
    ? []
    : parts(content).flatMap((part) => (isFields(part[kind]) ? [fields(part[kind])] : []));
}

function label(call: Fields): string {
  return `${text(call['name'])}#${text(call['id'])}`;
}

function partProblems(part: Fields): string[] {
  const kinds = KINDS.filter((kind) => part[kind] !== undefined);
  if (kinds.length !== 1) return [`has a part with ${kinds.length} kinds of content`];
  const [kind] = kinds;
  const value = fields(part[kind ?? '']);
  switch (kind) {
    case 'text':
      return isBlank(part['text']) && isBlank(part['thoughtSignature']) ? ['has a blank text'] : [];
    case 'functionCall':
      return isFields(value['args']) ? [] : ['has a call whose args are not an object'];
    case 'functionResponse':
      return isFields(value['response']) ? [] : ['has a response that is not an object'];
    case 'inlineData':
      return isBlank(value['data']) || !/^[\w.+-]+\/[\w.+-]+$/.test(text(value['mimeType']))
        ? ['has a file without data']
        : [];
    default:
      return [];
  }
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { returned } from '../../src/adapters/mcp/result.ts';

const PNG = Buffer.from('not really a picture, and long enough to be one all the same').toString('base64');
const image = { type: 'image', mimeType: 'image/png', data: PNG };
const text = (said: string) => ({ type: 'text', text: said });

test('B079 every type of content has its part, and what cannot be shown a note', () => {
  const content = [
    text('hello'),
    image,
    { type: 'audio', mimeType: 'audio/wav', data: PNG },
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
    { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/zip', blob: PNG } },
    {
      type: 'resource',
      resource: { uri: 'file:///a.csv', mimeType: 'text/csv', blob: Buffer.from('a,b').toString('base64') },
    },
    { type: 'resource_link', uri: 'file:///b.pdf', name: 'b', mimeType: 'application/pdf' },
    { type: 'hologram' },
  ];
  assert.deepEqual(returned({ content }, undefined), {
    kind: 'result',
    content: [
      { type: 'text', text: 'hello' },
      { type: 'file', mediaType: 'image/png', data: PNG },
      { type: 'file', mediaType: 'audio/wav', data: PNG },
      { type: 'text', text: '[resource file:///a.txt]\ninside' },
      { type: 'file', mediaType: 'application/zip', name: 'file:///a.bin', data: PNG },
      { type: 'text', text: '[resource file:///a.csv]\na,b' },
      { type: 'text', text: '[a link to the resource file:///b.pdf: b, application/pdf]' },
      { type: 'text', text: '[content of type "hologram", which cannot be shown]' },
    ],
  });
});

test('a structured result counts once, although servers say it as text too', () => {
  const structuredContent = { b: 1, a: [2] };
  assert.deepEqual(returned({ content: [text('{"a":[2],"b":1}')], structuredContent }, undefined), {
    kind: 'result',
    value: structuredContent,
  });
  assert.deepEqual(returned({ content: [text('and a word')], structuredContent }, undefined), {
    kind: 'result',
    value: structuredContent,
    content: [{ type: 'text', text: 'and a word' }],
  });
});

test('B078 a file reaches the model once, and never as base64 in a text', () => {
  const structuredContent = { picture: PNG, url: `data:image/png;base64,${PNG}`, size: 3 };
  const result = returned({ content: [image, text(JSON.stringify(structuredContent))], structuredContent }, undefined);
  assert.deepEqual(result, {
    kind: 'result',
    value: { picture: '[the image/png file of this result]', url: '[the image/png file of this result]', size: 3 },
    content: [{ type: 'file', mediaType: 'image/png', data: PNG }],
  });
});

test('a result that is not what the tool declares is a failure that says so', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const result = returned({ structuredContent: { n: 'one' } }, schema);
  assert.deepEqual(result, {
    kind: 'failure',
    code: 'bad_output',
    message: 'The tool ran and returned something else than it declares: /n: wanted number, found string "one"',
  });
});

test('nonsense is a result without content, or a note, and never throws', () => {
  assert.deepEqual(returned({ content: 'x' }, undefined), { kind: 'result', value: null });
  assert.deepEqual(returned({ content: [null, 3, { type: 'text' }] }, undefined), { kind: 'result', value: null });
  assert.deepEqual(returned({ content: [{ type: 'image', mimeType: 'evil\r\nheader', data: '<svg>' }] }, undefined), {
    kind: 'result',
    content: [{ type: 'text', text: '[a file of type image/png that is empty or not base64]' }],
  });
  assert.deepEqual(returned({ isError: true }, undefined), {
    kind: 'failure',
    code: 'remote_error',
    message: 'the server says that it failed, and not why',
  });
});

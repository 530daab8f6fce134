/** Everything that goes over the wire: the one file of the server that clients and the page may import. */
export * from './wire/accounts.ts';
export * from './wire/allowances.ts';
export * from './wire/notes.ts';
export type * from './wire/entry-data.ts';
export * from './wire/errors.ts';
export * from './wire/images.ts';
export * from './wire/keys.ts';
export * from './wire/nexustrade.ts';
export * from './wire/operate.ts';
export * from './wire/page.ts';
export * from './wire/replay.ts';
export * from './wire/requests.ts';
export * from './wire/route.ts';
export * from './wire/routes.ts';
export * from './wire/run.ts';
export * from './wire/selections.ts';
export * from './wire/shape.ts';

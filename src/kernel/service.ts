import type { AuthoredTool, ToolInput, ToolSpec } from './tool.ts';

/** An operation as its author writes it: a tool whose name is its key in the service. */
export type AuthoredOperation<I extends ToolInput> = Omit<AuthoredTool<I>, 'name'>;

/** An operation of any input. Operations that only read by their name, such as `object.get`, need not say so. */
export type OperationSpec = Omit<ToolSpec, 'name'>;

/** A named service: objects of one kind, and what can be done with them. */
export interface ServiceSpec {
  /** What people call it. */
  readonly label?: string;
  /** What it holds, in a sentence that the model reads. */
  readonly description?: string;
  /** By name, such as `object.search`. */
  readonly operations: Readonly<Record<string, OperationSpec>>;
}

/** Writes an operation whose `run` is typed by its `input`. */
export function defineOperation<I extends ToolInput>(operation: AuthoredOperation<I>): OperationSpec {
  return operation; // a catalogue hands `run` only what `input` has parsed
}

/** Writes a service. Checks nothing: loading does, and says where the service stands. */
export function defineService(service: ServiceSpec): ServiceSpec {
  return service;
}

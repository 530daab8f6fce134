import { calculate } from '../adapters/math/calculate.ts';
import type { BuiltinGroup } from '../kernel/tool.ts';
import { askUserGroup } from '../plugins/tools/ask-user.ts';
import { contextGroup } from '../plugins/tools/context.ts';
import { ioGroup } from '../plugins/tools/io.ts';
import { mathGroup } from '../plugins/tools/math.ts';
import { notesGroup } from '../plugins/tools/notes.ts';
import { timeGroup } from '../plugins/tools/time.ts';
import { todoGroup } from '../plugins/tools/todo.ts';

const groups: readonly BuiltinGroup[] = [
  ioGroup,
  contextGroup,
  mathGroup(calculate),
  timeGroup,
  askUserGroup,
  todoGroup,
  notesGroup,
];

/** Tool groups that come with Treadle, by the name after `builtin/`. */
export const builtinGroups: ReadonlyMap<string, BuiltinGroup> = new Map(groups.map((group) => [group.name, group]));

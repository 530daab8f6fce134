import { Plus, X } from 'lucide-react';
import { createContext, lazy, Suspense, use, useId, useRef, useState } from 'react';
import type { Json } from '../api/types.ts';
import { readJson } from '../json.ts';
import { blankOf, shapeOf, type Shape } from '../state/schema.ts';
import { Button, IconButton } from '../ui/button.tsx';

const DiffView = lazy(async () => ({ default: (await import('../ui/diff-view.tsx')).DiffView }));

export interface FormContext {
  /** The whole schema, which references point into. */
  readonly root: Json;
  readonly problems: ReadonlyMap<string, string>;
  /** What stands in fields and is no value at all yet, such as half a number, by place. */
  readonly halves: Readonly<Record<string, string>>;
  /** Undefined: what stands there is a value. */
  readonly onHalf: (place: string, text: string | undefined) => void;
  /** A value was left out, and all below it; with `row`, this one of a list, so that those after it move up. */
  readonly onGone: (place: string, row?: number) => void;
}

export const FormContext = createContext<FormContext>({
  root: {},
  problems: new Map(),
  halves: {},
  onHalf: () => undefined,
  onGone: () => undefined,
});

export interface FieldProps {
  /** Names from the top down, joined by points; empty for the whole. */
  readonly place: string;
  readonly name: string;
  readonly schema: Json;
  readonly value: Json;
  /** What it was before anybody changed it. */
  readonly before: Json;
  readonly isNeeded: boolean;
  readonly onChange: (value: Json) => void;
  /** Leaves it out. */
  readonly onDrop?: (() => void) | undefined;
}

/** One value of the arguments, in the field that fits it. */
export function Field(props: FieldProps) {
  const { root } = use(FormContext);
  const shape = shapeOf(props.schema, root, props.value);
  switch (shape.kind) {
    case 'object':
      return <ObjectField {...props} shape={shape} />;
    case 'list':
      return <ListField {...props} shape={shape} />;
    default:
      return <PlainField {...props} shape={shape} />;
  }
}

function ObjectField({
  place,
  name,
  value,
  before,
  onChange,
  onDrop,
  shape,
}: FieldProps & { readonly shape: Shape & { kind: 'object' } }) {
  const { root, problems, onGone } = use(FormContext);
  const values = recordOf(value);
  const there = shape.properties.filter((one) => one.name in values || one.isNeeded);
  const left = shape.properties.filter((one) => !there.includes(one));
  const problem = problems.get(place);
  return (
    <fieldset className="form-group" data-top={place === ''}>
      {place === '' ? null : (
        <legend>
          {name} <Drop name={name} onDrop={onDrop} />
        </legend>
      )}
      {there.map((one) => (
        <Field
          key={one.name}
          place={place === '' ? one.name : `${place}.${one.name}`}
          name={one.name}
          schema={one.schema}
          value={values[one.name]}
          before={recordOf(before)[one.name]}
          isNeeded={one.isNeeded}
          onChange={(next) => {
            onChange({ ...values, [one.name]: next });
          }}
          onDrop={
            one.isNeeded
              ? undefined
              : () => {
                  onGone(place === '' ? one.name : `${place}.${one.name}`);
                  onChange(Object.fromEntries(Object.entries(values).filter(([other]) => other !== one.name)));
                }
          }
        />
      ))}
      {left.length === 0 ? null : (
        <div className="form-more">
          {left.map((one) => (
            <Button
              key={one.name}
              look="quiet"
              onClick={() => {
                onChange({ ...values, [one.name]: blankOf(shapeOf(one.schema, root, undefined)) });
              }}
            >
              <Plus size={13} aria-hidden /> {one.name}
            </Button>
          ))}
        </div>
      )}
      {problem === undefined ? null : <small className="field-problem">{problem}</small>}
    </fieldset>
  );
}

function ListField({
  place,
  name,
  value,
  before,
  onChange,
  onDrop,
  shape: { items, about },
}: FieldProps & { readonly shape: Shape & { kind: 'list' } }) {
  const { root, problems, onGone } = use(FormContext);
  const values: readonly Json[] = Array.isArray(value) ? value : [];
  const old: readonly Json[] = Array.isArray(before) ? before : [];
  const problem = problems.get(place);
  /** A name for each row, so that a row keeps what is typed in it when one above is left out. */
  const [rows, setRows] = useState<readonly number[]>(() => values.map((_, index) => index));
  const newest = useRef(values.length);
  return (
    <fieldset className="form-group">
      <legend>
        {name} <Drop name={name} onDrop={onDrop} />
      </legend>
      {about === undefined ? null : <small className="form-about">{about}</small>}
      {values.map((item, index) => (
        <Field
          key={rows[index] ?? `new ${index}`}
          place={`${place}.${index}`}
          name={String(index + 1)}
          schema={items}
          value={item}
          before={old[index]}
          isNeeded
          onChange={(next) => {
            onChange(values.with(index, next));
          }}
          onDrop={() => {
            onGone(place, index);
            setRows(rows.toSpliced(index, 1));
            onChange(values.toSpliced(index, 1));
          }}
        />
      ))}
      <div className="form-more">
        <Button
          look="quiet"
          onClick={() => {
            setRows([...rows, newest.current++]);
            onChange([...values, blankOf(shapeOf(items, root, undefined))]);
          }}
        >
          <Plus size={13} aria-hidden /> One more
        </Button>
      </div>
      {problem === undefined ? null : <small className="field-problem">{problem}</small>}
    </fieldset>
  );
}

type PlainShape = Exclude<Shape, { kind: 'object' | 'list' }>;

/** A value in one field, with what it was and what is wrong with it. */
function PlainField(props: FieldProps & { readonly shape: PlainShape }) {
  const { place, name, value, before, isNeeded, onChange, onDrop, shape } = props;
  const id = useId();
  const { problems, onGone } = use(FormContext);
  const problem = problems.get(place);
  const described = [
    ...(shape.about === undefined ? [] : [`${id}-about`]),
    ...(problem === undefined ? [] : [`${id}-problem`]),
  ].join(' ');
  const isChanged = before !== undefined && JSON.stringify(before) !== JSON.stringify(value);
  const isNone = shape.isNullable && value === null;
  return (
    <div className="form-field">
      <div className="form-label">
        <label htmlFor={id}>{name}</label>
        {isNeeded ? null : <small>optional</small>}
        {shape.isNullable ? (
          <label className="form-none">
            <input
              type="checkbox"
              checked={isNone}
              onChange={(event) => {
                onGone(place);
                onChange(event.target.checked ? null : blankOf({ ...shape, isNullable: false }));
              }}
            />
            none
          </label>
        ) : null}
        <Drop name={name} onDrop={onDrop} />
      </div>
      {isNone ? null : (
        <Input
          id={id}
          describedBy={described === '' ? undefined : described}
          isBad={problem !== undefined}
          {...props}
        />
      )}
      {shape.about === undefined ? null : (
        <small id={`${id}-about`} className="form-about">
          {shape.about}
        </small>
      )}
      {problem === undefined ? null : (
        <small id={`${id}-problem`} className="field-problem">
          {problem}
        </small>
      )}
      {isChanged ? <Before before={before} value={value} /> : null}
    </div>
  );
}

function Before({ before, value }: { readonly before: Json; readonly value: Json }) {
  if (typeof before === 'string' && typeof value === 'string' && before.includes('\n'))
    return (
      <Suspense fallback={null}>
        <DiffView before={before} after={value} file="Your change" />
      </Suspense>
    );
  return (
    <small className="edited-from">
      was <del>{shown(before)}</del>
    </small>
  );
}

interface InputProps extends FieldProps {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly isBad: boolean;
  readonly shape: PlainShape;
}

function Input(props: InputProps) {
  const { id, describedBy, isBad, value, before, onChange, shape } = props;
  // It is the same field for as long as one writes in it, however long the text becomes.
  const [isLong] = useState(() => [value, before].some(isLongText));
  const common = { id, 'aria-describedby': describedBy, 'aria-invalid': isBad };
  switch (shape.kind) {
    case 'flag':
      return (
        <select
          {...common}
          className="field"
          value={String(value === true)}
          onChange={(event) => {
            onChange(event.target.value === 'true');
          }}
        >
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      );
    case 'choice': {
      const index = shape.choices.findIndex((one) => JSON.stringify(one) === JSON.stringify(value));
      return (
        <select
          {...common}
          className="field"
          value={index}
          onChange={(event) => {
            onChange(shape.choices[Number(event.target.value)]);
          }}
        >
          {index === -1 ? <option value={-1}>{shown(value)}</option> : null}
          {shape.choices.map((one, at) => (
            <option key={at} value={at}>
              {shown(one)}
            </option>
          ))}
        </select>
      );
    }
    case 'text': {
      const text = typeof value === 'string' ? value : shown(value ?? '');
      return isLong || text.includes('\n') ? (
        <textarea
          {...common}
          className="field"
          rows={Math.min(14, text.split('\n').length + 1)}
          value={text}
          onChange={(event) => {
            onChange(event.target.value);
          }}
        />
      ) : (
        <input
          {...common}
          className="field"
          value={text}
          inputMode={shape.format === 'email' ? 'email' : shape.format === 'uri' ? 'url' : undefined}
          onChange={(event) => {
            onChange(event.target.value);
          }}
        />
      );
    }
    case 'number':
    case 'json':
      return <WrittenField {...props} />;
  }
}

/** A number or JSON, as it is typed: it counts once it can be read. */
function WrittenField({ id, describedBy, isBad, place, value, onChange, shape }: InputProps) {
  const { halves, onHalf } = use(FormContext);
  const half = halves[place];
  const [typed, setText] = useState(() => shown(value ?? (shape.kind === 'number' ? '' : null)));
  const text = half ?? typed;
  const kind = shape.kind === 'number' ? 'number' : 'json';
  const problem = half === undefined ? undefined : `This is not ${kind === 'number' ? 'a number' : 'JSON'}.`;
  const take = (next: string): void => {
    setText(next);
    const read = readAs(kind, next);
    onHalf(place, read === undefined ? next : undefined);
    if (read !== undefined) onChange(read.value);
  };
  const common = {
    id,
    className: 'field',
    'aria-describedby': describedBy,
    'aria-invalid': isBad || problem !== undefined,
    value: text,
    onChange: (event: { readonly target: { readonly value: string } }) => {
      take(event.target.value);
    },
  };
  return (
    <>
      {shape.kind === 'number' ? (
        <input {...common} inputMode="decimal" />
      ) : (
        <textarea {...common} rows={Math.min(14, text.split('\n').length + 1)} />
      )}
      {problem === undefined ? null : <small className="field-problem">{problem}</small>}
    </>
  );
}

function Drop({ name, onDrop }: { readonly name: string; readonly onDrop: (() => void) | undefined }) {
  if (onDrop === undefined) return null;
  return (
    <IconButton label={`Leave ${name} out`} className="form-drop" onClick={onDrop}>
      <X size={13} />
    </IconButton>
  );
}

/** Where a field stands once a value is left out; undefined where it is gone with it. */
export function placeAfter(field: string, place: string, row: number | undefined): string | undefined {
  if (row === undefined) return field === place || field.startsWith(`${place}.`) ? undefined : field;
  const [at = '', ...below] = field.startsWith(`${place}.`) ? field.slice(place.length + 1).split('.') : [];
  const index = Number(at);
  if (at === '' || index < row) return field;
  return index === row ? undefined : [place, index - 1, ...below].join('.');
}

function isLongText(value: Json): boolean {
  return typeof value === 'string' && (value.includes('\n') || value.length > 60);
}

function readAs(kind: 'number' | 'json', text: string): { readonly value: Json } | undefined {
  const read = readOr(text);
  return kind === 'number' && typeof read?.value !== 'number' ? undefined : read;
}

export function readOr(text: string): { readonly value: Json } | undefined {
  try {
    return { value: readJson(text) };
  } catch {
    return undefined;
  }
}

export function shown(value: Json): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2);
}

function recordOf(value: Json): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>) // an object that is no list
    : {};
}

/** A value as it is: objects as JSON in lines, text as text. */
import classes from './json.module.css';

export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <pre className={classes.json} tabIndex={0} role="region" aria-label={label}>
      {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
    </pre>
  );
}

/**
 * A text of a device or an image: Markdown if it looks like it, otherwise its lines as they are.
 * The Markdown parser is loaded on first use.
 */
import { lazy, Suspense } from 'react';
import { looksLikeMarkdown } from './looks-like-markdown';
import classes from './markdown.module.css';

const Markdown = lazy(() => import('./markdown').then((module) => ({ default: module.Markdown })));

export function MarkdownText({ text }: { readonly text: string }) {
  const plain = <div className={classes.text}>{text}</div>;
  if (!looksLikeMarkdown(text)) return plain;
  return (
    <Suspense fallback={plain}>
      <Markdown text={text} />
    </Suspense>
  );
}

/**
 * Markdown from outside the hub: no HTML, no remote images, and links that reveal nothing of the
 * console. Headings are paragraphs, because the page has its own outline.
 */
import type { ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import classes from './markdown.module.css';

const heading = ({ children }: { readonly children?: ReactNode }) => <p className={classes.heading}>{children}</p>;

const components: Components = {
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  img: ({ alt }) => <>{alt}</>,
  pre: ({ children }) => (
    <pre className={classes.code} tabIndex={0}>
      {children}
    </pre>
  ),
};

export function Markdown({ text }: { readonly text: string }) {
  return (
    <div className={classes.markdown}>
      <ReactMarkdown components={components} skipHtml>
        {text}
      </ReactMarkdown>
    </div>
  );
}

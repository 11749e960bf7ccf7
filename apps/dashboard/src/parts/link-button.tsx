/** A link that looks like the button beside it. */
import { Button } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

export const LinkButton = createLink(Button<'a'>);

/** The page: a program on the left, and what it becomes and costs on the right. */
import { Client } from './client';

// The module is on its way before the editor is.
const client = new Client();
void import('./page').then(({ Page }) => new Page(client).begin());

/** The page: a program on the left, and what it becomes and costs on the right. */
import { Page } from './page';

void new Page().begin();

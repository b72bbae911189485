// Nodes: what spmm_row_split.cl takes together, a run of 1 to 8 neighbouring rows that have the same columns. A list of
// them has a word each: the first row, and in the lowest bits the rows less one. Where there is no list, each row is
// a node.
#ifndef SPMM_NODE_H
#define SPMM_NODE_H

#include "item/scalar.h"

#define NODE_BITS 3

uint node_row(const uint node)
{
    return node >> NODE_BITS;
}

uint node_rows(const uint node)
{
    return (node & ((1u << NODE_BITS) - 1)) + 1;
}

#endif

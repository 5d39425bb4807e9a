import { requireCompany } from '../directory/company.ts'
import type { CompanyId } from '../directory/identity.ts'
import { addMember, listMembers } from '../directory/member.ts'
import { list, table } from './answer.ts'
import type { Noun } from './command-line.ts'

const company = { value: '<id>', isRequired: true, help: 'the company' }

export const member: Noun = {
  help: 'people who act for a company',
  verbs: {
    add: {
      help: 'Adds a person to a company. Admins may manage its key pair; a company has one owner, made with it.',
      options: {
        company,
        email: { value: '<address>', isRequired: true, help: 'e-mail address, once per company' },
        name: { value: '<text>', isRequired: true, help: 'name of the person' },
        role: { value: 'admin|member', isRequired: true, help: 'what the person may do' },
      },
      run: async ({ pool }, given) => {
        const data = await addMember(pool, {
          companyId: given.uuid<CompanyId>('company'),
          email: given.text('email'),
          name: given.text('name'),
          role: given.oneOf('role', ['admin', 'member']),
        })
        return { data, text: list({ member: data.id, email: data.email, role: data.role }) }
      },
    },
    list: {
      help: 'The people of a company, its owner first.',
      options: { company },
      run: async ({ pool }, given) => {
        const { id } = await requireCompany(pool, given.uuid<CompanyId>('company'))
        const data = await listMembers(pool, id)
        const rows = data.map((each) => [each.id, each.email, each.name, each.role, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'role', 'added'], rows) }
      },
    },
  },
}
